//! A stream of WebSocket frames in which every long frame is split into fragments. The WebSocket library reserves memory
//! for a frame as soon as its header announces a length, and keeps that memory for as long as the connection lives; of a
//! fragment that is little. A long message waits here for its memory permit before any of it is passed on.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use countersign_protocol::frame_header::Header;
use tokio::io::{AsyncBufRead, AsyncRead, AsyncWrite, BufReader, ReadBuf};

use crate::limits::socket_budget::SocketBudget;

/// Length of a fragment, and of a message that needs no permit. A multiple of four, because the mask repeats after four
/// bytes: every fragment then begins at its first byte.
const FRAGMENT_BYTES: usize = 16 * 1024;
const READ_BUFFER_BYTES: usize = 2048;

pub struct FrameSplitter<S> {
    stream: BufReader<S>,
    budget: SocketBudget,
    max_message_bytes: usize,
    /// Announced so far by the data frames of the arriving message.
    announced_bytes: u64,
    state: State,
}

#[derive(Clone, Copy)]
enum State {
    /// Collecting the header of a frame.
    Header(Header),
    /// Waiting for the memory permit.
    Permit(Frame),
    /// Passing on a fragment, or a whole frame: first its header, then its bytes.
    Fragment {
        frame: Frame,
        header: Header,
        passed_header_bytes: usize,
        left: u64,
    },
}

/// A frame as its sender wrote it.
#[derive(Clone, Copy)]
struct Frame {
    header: Header,
    is_begun: bool,
    /// Not yet part of a fragment.
    left: u64,
    fragment_bytes: u64,
}

impl<S: AsyncRead> FrameSplitter<S> {
    pub fn new(stream: S, budget: SocketBudget, max_message_bytes: usize) -> Self {
        Self {
            stream: BufReader::with_capacity(READ_BUFFER_BYTES, stream),
            budget,
            max_message_bytes,
            announced_bytes: 0,
            state: State::Header(Header::default()),
        }
    }

    /// Requests the permit for a message as soon as it is known to be long. A frame that is too long for any message is
    /// passed on as it is: the library refuses it by its header.
    fn begin_frame(&mut self, header: Header) -> Frame {
        let length = header.payload_bytes();
        let is_too_long = length > self.max_message_bytes as u64;
        if header.is_data() && !is_too_long {
            let is_whole_message = header.is_final() && self.announced_bytes == 0;
            self.announced_bytes = self.announced_bytes.saturating_add(length);
            if self.announced_bytes > FRAGMENT_BYTES as u64 {
                let bytes = if is_whole_message {
                    usize::try_from(length).unwrap_or(self.max_message_bytes)
                } else {
                    self.max_message_bytes
                };
                // The buffer of an incomplete message doubles as it grows.
                self.budget.request(bytes.next_power_of_two());
            }
        }
        Frame {
            header,
            is_begun: false,
            left: length,
            fragment_bytes: if is_too_long { length } else { FRAGMENT_BYTES as u64 },
        }
    }

    /// Counts what was passed on of the current fragment. The end of a message is noticed at once, not with the next read:
    /// its permit ends when it has been handled, which comes first.
    fn pass(&mut self, header_bytes: usize, payload_bytes: usize) {
        let State::Fragment {
            frame,
            header,
            passed_header_bytes,
            left,
        } = &mut self.state
        else {
            return;
        };
        *passed_header_bytes += header_bytes;
        *left -= payload_bytes as u64;
        if *passed_header_bytes < header.length || *left > 0 {
            return;
        }
        let frame = *frame;
        if frame.left > 0 {
            self.state = frame.next_fragment();
            return;
        }
        self.state = State::Header(Header::default());
        if frame.header.is_data() && frame.header.is_final() {
            self.announced_bytes = 0;
            self.budget.message_complete();
        }
    }
}

impl<S: AsyncRead + Unpin> FrameSplitter<S> {
    /// Collects the bytes of a header; false at the end of the stream.
    fn poll_header(&mut self, mut header: Header, cx: &mut Context<'_>) -> Poll<io::Result<Option<Header>>> {
        loop {
            let missing = header.expected_length() - header.length;
            if missing == 0 {
                return Poll::Ready(Ok(Some(header)));
            }
            let Poll::Ready(available) = Pin::new(&mut self.stream).poll_fill_buf(cx)? else {
                self.state = State::Header(header);
                return Poll::Pending;
            };
            if available.is_empty() {
                return Poll::Ready(Ok(None));
            }
            let count = missing.min(available.len());
            header.bytes[header.length..header.length + count].copy_from_slice(&available[..count]);
            header.length += count;
            Pin::new(&mut self.stream).consume(count);
        }
    }

    /// Reads at most `limit` bytes; returns how many.
    fn poll_payload(&mut self, limit: u64, cx: &mut Context<'_>, out: &mut ReadBuf<'_>) -> Poll<io::Result<usize>> {
        let count = out.remaining().min(usize::try_from(limit).unwrap_or(usize::MAX));
        let mut part = ReadBuf::new(out.initialize_unfilled_to(count));
        ready!(Pin::new(&mut self.stream).poll_read(cx, &mut part))?;
        let read = part.filled().len();
        out.advance(read);
        Poll::Ready(Ok(read))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for FrameSplitter<S> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, out: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        loop {
            match this.state {
                State::Header(header) => {
                    let Some(header) = ready!(this.poll_header(header, cx))? else {
                        return Poll::Ready(Ok(()));
                    };
                    this.state = State::Permit(this.begin_frame(header));
                }
                State::Permit(frame) => {
                    ready!(this.budget.poll_permit(cx))?;
                    this.state = frame.next_fragment();
                }
                State::Fragment {
                    header,
                    passed_header_bytes: passed,
                    ..
                } if passed < header.length => {
                    let count = out.remaining().min(header.length - passed);
                    out.put_slice(&header.bytes[passed..passed + count]);
                    this.pass(count, 0);
                    return Poll::Ready(Ok(()));
                }
                State::Fragment { left, .. } => {
                    let count = ready!(this.poll_payload(left, cx, out))?;
                    this.pass(0, count);
                    return Poll::Ready(Ok(()));
                }
            }
        }
    }
}

impl Frame {
    fn next_fragment(mut self) -> State {
        let length = self.left.min(self.fragment_bytes);
        self.left -= length;
        let is_whole = !self.is_begun && self.left == 0;
        let header = if is_whole {
            self.header
        } else {
            self.header.of_fragment(!self.is_begun, self.left == 0, length)
        };
        self.is_begun = true;
        State::Fragment {
            frame: self,
            header,
            passed_header_bytes: 0,
            left: length,
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for FrameSplitter<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use futures_util::{FutureExt, SinkExt, StreamExt};
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
    use tokio_tungstenite::WebSocketStream;
    use tokio_tungstenite::tungstenite::protocol::Role;
    use tokio_tungstenite::tungstenite::protocol::frame::Frame as ClientFrame;
    use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};
    use tokio_tungstenite::tungstenite::{Error, Message};

    use super::*;
    use crate::limits::memory_budget::MemoryBudget;
    use countersign_protocol::frame_header::{LENGTH_IN_8_BYTES, MASK_BIT, MAX_HEADER_BYTES};

    const MAX_MESSAGE_BYTES: usize = 1024 * 1024;

    fn splitter(budget: &SocketBudget) -> (DuplexStream, FrameSplitter<DuplexStream>) {
        let (client, stream) = duplex(64 * 1024);
        (client, FrameSplitter::new(stream, budget.clone(), MAX_MESSAGE_BYTES))
    }

    fn masked_header(first_byte: u8, length: u64) -> Vec<u8> {
        [
            &[first_byte, MASK_BIT | LENGTH_IN_8_BYTES],
            &length.to_be_bytes()[..],
            &[1, 2, 3, 4],
        ]
        .concat()
    }

    fn text(length: usize) -> String {
        (0..length).map(|index| char::from(b'a' + (index % 23) as u8)).collect()
    }

    #[tokio::test]
    async fn messages_of_every_length_arrive_unchanged() {
        let memory_budget = Arc::new(MemoryBudget::default());
        let budget = SocketBudget::new(&memory_budget, "alice");
        let (client, stream) = splitter(&budget);
        let mut client = WebSocketStream::from_raw_socket(client, Role::Client, None).await;
        let mut hub = WebSocketStream::from_raw_socket(stream, Role::Server, None).await;
        let lengths = [
            0,
            1,
            125,
            126,
            65_536,
            FRAGMENT_BYTES,
            FRAGMENT_BYTES + 1,
            3 * FRAGMENT_BYTES,
            300_001,
        ];
        let sending = async {
            for length in lengths {
                client.send(Message::text(text(length))).await.unwrap();
                let parts = [(Data::Binary, false), (Data::Continue, false), (Data::Continue, true)];
                for (kind, is_last) in parts {
                    let frame = ClientFrame::message(text(length), OpCode::Data(kind), is_last);
                    client.send(Message::Frame(frame)).await.unwrap();
                    client.send(Message::Ping("p".into())).await.unwrap();
                }
            }
        };
        let receiving = async {
            for length in lengths {
                for expected in [text(length), text(length).repeat(3)] {
                    let message = loop {
                        match hub.next().await.unwrap().unwrap() {
                            Message::Ping(_) => {}
                            message => break message,
                        }
                    };
                    assert!(message.into_data() == expected.as_bytes(), "{length}");
                    budget.message_done();
                }
            }
        };
        tokio::join!(sending, receiving);
        let whole = memory_budget.reserve("alice", 32 * 1024 * 1024);
        assert!(
            whole.now_or_never().is_some_and(|permit| permit.is_ok()),
            "no permit is left behind"
        );
    }

    #[tokio::test]
    async fn no_header_announces_more_than_a_fragment() {
        let budget = SocketBudget::new(&Arc::default(), "alice");
        let (mut client, mut stream) = splitter(&budget);
        let payload = vec![7; FRAGMENT_BYTES + 5];
        let frame = [masked_header(0x81, payload.len() as u64), payload].concat();
        client.write_all(&frame).await.unwrap();
        let mut head = [0; MAX_HEADER_BYTES];
        stream.read_exact(&mut head).await.unwrap();
        assert_eq!(head[..], masked_header(0x01, FRAGMENT_BYTES as u64));
        stream.read_exact(&mut [0; FRAGMENT_BYTES]).await.unwrap();
        stream.read_exact(&mut head).await.unwrap();
        assert_eq!(head[..], masked_header(0x80, 5), "the last fragment ends the message");
    }

    #[tokio::test(start_paused = true)]
    async fn a_long_message_waits_for_its_permit_before_any_of_it_is_passed_on() {
        let memory_budget = Arc::new(MemoryBudget::default());
        let taken = memory_budget.reserve("alice", 32 * 1024 * 1024).await.unwrap();
        for first_byte in [0x81, 0x01] {
            let budget = SocketBudget::new(&memory_budget, "alice");
            let (mut client, mut stream) = splitter(&budget);
            client
                .write_all(&masked_header(first_byte, FRAGMENT_BYTES as u64 + 1))
                .await
                .unwrap();
            assert!(stream.read_u8().now_or_never().is_none(), "{first_byte:x}");
            assert!(stream.read_u8().await.is_err(), "the wait is bounded");
        }
        let budget = SocketBudget::new(&memory_budget, "alice");
        let (mut client, mut stream) = splitter(&budget);
        client
            .write_all(&masked_header(0x81, FRAGMENT_BYTES as u64))
            .await
            .unwrap();
        assert!(stream.read_u8().await.is_ok(), "a short message needs no permit");
        drop(taken);
    }

    #[tokio::test]
    async fn long_frames_of_other_kinds_are_refused_like_before() {
        for (first_byte, length) in [
            (0x89, 500_000),
            (0xc1, 500_000),
            (0x81, MAX_MESSAGE_BYTES as u64 * 1000),
        ] {
            let budget = SocketBudget::new(&Arc::default(), "alice");
            let (mut client, stream) = splitter(&budget);
            let mut hub = WebSocketStream::from_raw_socket(stream, Role::Server, None).await;
            let frame = [masked_header(first_byte, length), vec![0; FRAGMENT_BYTES]].concat();
            client.write_all(&frame).await.unwrap();
            let error = hub.next().await.unwrap().unwrap_err();
            assert!(matches!(error, Error::Protocol(_) | Error::Capacity(_)), "{error}");
        }
    }
}
