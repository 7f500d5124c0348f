//! The time-out for the head of a request. hyper's own also runs while a connection is idle between two requests, where
//! a proxy may keep it for a minute, so a second one starts with the first byte of a head.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

/// From the first byte of a head to its last.
const REQUEST_HEAD_TIMEOUT: Duration = Duration::from_secs(30);

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

pub struct HeadTimeout<S> {
    stream: S,
    phase: RequestPhase,
    /// The phase that `started_at` belongs to.
    seen: usize,
    started_at: Option<Instant>,
    /// Set while the rest of a head is awaited.
    deadline: Option<Pin<Box<Sleep>>>,
}

impl<S> HeadTimeout<S> {
    pub fn new(stream: S, phase: RequestPhase) -> Self {
        Self {
            stream,
            phase,
            seen: 0,
            started_at: None,
            deadline: None,
        }
    }

    /// Whether the head that is being read takes too long. The timer is set only when the stream has no more bytes, so
    /// a head that arrives in one piece costs none.
    fn is_late(&mut self, cx: &mut Context<'_>, has_bytes: bool) -> bool {
        let phase = self.phase.now();
        if phase != self.seen {
            (self.seen, self.started_at, self.deadline) = (phase, None, None);
        }
        let is_awaiting = phase.is_multiple_of(2);
        if is_awaiting && has_bytes {
            self.started_at.get_or_insert_with(Instant::now);
        }
        let Some(started_at) = self.started_at else {
            return false;
        };
        if has_bytes {
            return started_at.elapsed() >= REQUEST_HEAD_TIMEOUT;
        }
        let until = started_at + REQUEST_HEAD_TIMEOUT;
        let deadline = self.deadline.get_or_insert_with(|| Box::pin(sleep_until(until)));
        deadline.as_mut().poll(cx).is_ready()
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for HeadTimeout<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(cx, buffer);
        if self.is_late(cx, buffer.filled().len() > before) {
            return Poll::Ready(Err(io::Error::new(
                io::ErrorKind::TimedOut,
                "the head of a request did not arrive in time",
            )));
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for HeadTimeout<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
