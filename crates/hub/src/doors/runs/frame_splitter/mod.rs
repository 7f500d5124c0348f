//! A stream of WebSocket frames in which every long frame is split into fragments. The WebSocket library reserves memory
//! for a frame as soon as its header announces a length, and keeps that memory for as long as the connection lives; of a
//! fragment that is little. A long message waits here for its memory permit before any of it is passed on.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use countersign_protocol::frame_header::Header;
use tokio::io::{AsyncBufRead, AsyncRead, AsyncWrite, BufReader, ReadBuf};

use crate::limits::memory_budget::{MemoryBudget, MemoryPermit};
use crate::problem::Problem;

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

/// The memory budget of the messages on one WebSocket. A long message gets its permit before the WebSocket library sees any of
/// it, and keeps it until it has been handled.
#[derive(Clone)]
pub struct SocketBudget(Arc<Mutex<SocketUsage>>);

struct SocketUsage {
    memory_budget: Arc<MemoryBudget>,
    caller: String,
    /// Of the message that is arriving.
    arriving: PermitState,
    /// Of the last complete message, until it has been handled. The next one may begin to arrive before that.
    complete: PermitState,
}

#[derive(Default)]
enum PermitState {
    #[default]
    NotNeeded,
    Waiting(Pin<Box<dyn Future<Output = Result<MemoryPermit, Problem>> + Send>>),
    Held {
        _permit: MemoryPermit,
    },
}

impl SocketBudget {
    pub fn new(memory_budget: &Arc<MemoryBudget>, caller: &str) -> Self {
        Self(Arc::new(Mutex::new(SocketUsage {
            memory_budget: Arc::clone(memory_budget),
            caller: caller.to_owned(),
            arriving: PermitState::NotNeeded,
            complete: PermitState::NotNeeded,
        })))
    }

    /// Asks for a permit for the arriving message, unless it has one.
    pub fn request(&self, bytes: usize) {
        let mut usage = self.lock();
        if matches!(usage.arriving, PermitState::NotNeeded) {
            let memory_budget = Arc::clone(&usage.memory_budget);
            let caller = usage.caller.clone();
            usage.arriving = PermitState::Waiting(Box::pin(async move { memory_budget.reserve(&caller, bytes).await }));
        }
    }

    /// Back-pressure before a read: waits for a requested permit, and fails the connection when it does not come in time.
    pub fn poll_permit(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut usage = self.lock();
        let PermitState::Waiting(waiting) = &mut usage.arriving else {
            return Poll::Ready(Ok(()));
        };
        let Ok(_permit) = ready!(waiting.as_mut().poll(cx)) else {
            return Poll::Ready(Err(io::Error::other(
                "too many large messages at once; no memory permit in time",
            )));
        };
        usage.arriving = PermitState::Held { _permit };
        Poll::Ready(Ok(()))
    }

    /// Call when the last byte of a message has arrived.
    pub fn message_complete(&self) {
        let mut usage = self.lock();
        usage.complete = std::mem::take(&mut usage.arriving);
    }

    /// Call when a complete message has been handled.
    pub fn message_done(&self) {
        self.lock().complete = PermitState::NotNeeded;
    }

    fn lock(&self) -> MutexGuard<'_, SocketUsage> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
