//! The stream of one connection, with the bounds that hyper does not have: a time-out for the head of a request and one
//! for writes that make no progress. Its first bytes tell HTTP/1 from HTTP/2.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep, sleep_until};

const HTTP2_PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// From the first byte of a head to its last. hyper's own also runs while a connection is idle between two requests,
/// where a proxy may keep it for a minute.
const REQUEST_HEAD_TIMEOUT: Duration = Duration::from_secs(30);
/// How long a write may make no progress. An idle stream has no time-out.
const WRITE_TIMEOUT: Duration = Duration::from_secs(60);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HttpVersion {
    Http1,
    Http2,
}

/// The phases of a connection in turn: awaiting a request (even), serving it (odd).
#[derive(Clone, Default)]
pub struct RequestPhase(Arc<AtomicUsize>);

impl RequestPhase {
    /// Call when a head is complete, and when its reply is ready. A connection that stays in between, as a WebSocket
    /// does, has no time-out.
    pub fn advance(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn now(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

pub struct BoundedStream<S> {
    stream: S,
    /// The bytes that were read to tell the versions apart; replayed to the reader.
    first: [u8; HTTP2_PREFACE.len()],
    length: usize,
    replayed: usize,
    phase: RequestPhase,
    /// The phase that `head_started_at` belongs to.
    seen: usize,
    head_started_at: Option<Instant>,
    /// Set while the rest of a head is awaited.
    head_deadline: Option<Pin<Box<Sleep>>>,
    /// Set while a write is pending.
    write_deadline: Option<Pin<Box<Sleep>>>,
}

impl<S: AsyncRead + Unpin> BoundedStream<S> {
    /// Reads just enough to tell the two versions apart. The caller applies a time-out.
    pub async fn sniff(stream: S, phase: RequestPhase) -> io::Result<(Self, HttpVersion)> {
        let mut sniffed = Self {
            stream,
            first: [0; HTTP2_PREFACE.len()],
            length: 0,
            replayed: 0,
            phase,
            seen: 0,
            head_started_at: None,
            head_deadline: None,
            write_deadline: None,
        };
        loop {
            let read = sniffed.stream.read(&mut sniffed.first[sniffed.length..]).await?;
            sniffed.length += read;
            let seen = &sniffed.first[..sniffed.length];
            if !seen.is_empty() {
                sniffed.head_started_at.get_or_insert_with(Instant::now);
            }
            if read == 0 || *seen != HTTP2_PREFACE[..seen.len()] {
                return Ok((sniffed, HttpVersion::Http1));
            }
            if seen.len() == HTTP2_PREFACE.len() {
                return Ok((sniffed, HttpVersion::Http2));
            }
        }
    }
}

impl<S> BoundedStream<S> {
    /// Whether the head that is being read takes too long. The timer is set only when the stream has no more bytes, so
    /// a head that arrives in one piece costs none.
    fn is_head_late(&mut self, cx: &mut Context<'_>, has_bytes: bool) -> bool {
        let phase = self.phase.now();
        if phase != self.seen {
            (self.seen, self.head_started_at, self.head_deadline) = (phase, None, None);
        }
        let is_awaiting = phase.is_multiple_of(2);
        if is_awaiting && has_bytes {
            self.head_started_at.get_or_insert_with(Instant::now);
        }
        let Some(started_at) = self.head_started_at else {
            return false;
        };
        if has_bytes {
            return started_at.elapsed() >= REQUEST_HEAD_TIMEOUT;
        }
        let until = started_at + REQUEST_HEAD_TIMEOUT;
        let deadline = self.head_deadline.get_or_insert_with(|| Box::pin(sleep_until(until)));
        deadline.as_mut().poll(cx).is_ready()
    }

    /// Resets the time-out when the stream made progress, and fails when it did not in time.
    fn check_progress<T>(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.write_deadline = None;
            return written;
        }
        let deadline = self
            .write_deadline
            .get_or_insert_with(|| Box::pin(sleep(WRITE_TIMEOUT)));
        ready!(deadline.as_mut().poll(cx));
        Poll::Ready(Err(io::Error::new(
            io::ErrorKind::TimedOut,
            "write timed out: the peer does not read",
        )))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for BoundedStream<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let replayed = self.replayed;
        self.replayed = self.length.min(replayed + buffer.remaining());
        buffer.put_slice(&self.first[replayed..self.replayed]);
        let has_replayed = self.replayed > replayed;
        // Fills the rest of the buffer too, because a short first read would make hyper double its buffer for good.
        let read = match Pin::new(&mut self.stream).poll_read(cx, buffer) {
            Poll::Pending if has_replayed => Poll::Ready(Ok(())),
            read => read,
        };
        if self.is_head_late(cx, buffer.filled().len() > before) {
            return Poll::Ready(Err(io::Error::new(
                io::ErrorKind::TimedOut,
                "the head of a request did not arrive in time",
            )));
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for BoundedStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.check_progress(cx, written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let written = Pin::new(&mut self.stream).poll_flush(cx);
        self.check_progress(cx, written)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let written = Pin::new(&mut self.stream).poll_shutdown(cx);
        self.check_progress(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.check_progress(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
