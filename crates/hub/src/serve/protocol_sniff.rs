//! Protocol sniffing: reads the first bytes of a stream to tell HTTP/1 from HTTP/2, and replays them.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};

const HTTP2_PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

pub struct SniffedStream<S> {
    head: [u8; HTTP2_PREFACE.len()],
    length: usize,
    replayed: usize,
    stream: S,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HttpVersion {
    Http1,
    Http2,
}

impl<S: AsyncRead + Unpin> SniffedStream<S> {
    /// Reads just enough to tell the two versions apart. The caller applies a time-out.
    pub async fn sniff(stream: S) -> io::Result<(Self, HttpVersion)> {
        let mut sniffed = Self {
            head: [0; HTTP2_PREFACE.len()],
            length: 0,
            replayed: 0,
            stream,
        };
        loop {
            let read = sniffed.stream.read(&mut sniffed.head[sniffed.length..]).await?;
            sniffed.length += read;
            let seen = &sniffed.head[..sniffed.length];
            if read == 0 || *seen != HTTP2_PREFACE[..seen.len()] {
                return Ok((sniffed, HttpVersion::Http1));
            }
            if seen.len() == HTTP2_PREFACE.len() {
                return Ok((sniffed, HttpVersion::Http2));
            }
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for SniffedStream<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.replayed == self.length {
            return Pin::new(&mut self.stream).poll_read(cx, buffer);
        }
        let count = buffer.remaining().min(self.length - self.replayed);
        buffer.put_slice(&self.head[self.replayed..self.replayed + count]);
        self.replayed += count;
        // Fills the rest of the buffer too, because a short first read would make hyper double its buffer for good.
        match Pin::new(&mut self.stream).poll_read(cx, buffer) {
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Ready(Ok(())) | Poll::Pending => Poll::Ready(Ok(())),
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for SniffedStream<S> {
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
