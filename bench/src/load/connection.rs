use std::net::SocketAddr;
use std::ops::Range;

use anyhow::{Context, Result, bail, ensure};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::head::Head;
use super::request::render;

/// More than the longest reply of the hub or the ceiling.
const MAX_REPLY_BYTES: usize = 4 * 1024 * 1024;

/// One HTTP/1.1 connection, kept alive, one request at a time.
pub struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

pub struct Reply<'a> {
    pub status: u16,
    pub body: &'a [u8],
}

impl Reply<'_> {
    pub fn expect(&self, status: u16) -> Result<()> {
        if self.status == status {
            return Ok(());
        }
        let shown = &self.body[..self.body.len().min(300)];
        bail!(
            "expected {status}, got {}: {}",
            self.status,
            String::from_utf8_lossy(shown)
        )
    }
}

impl Connection {
    pub async fn open(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address)
            .await
            .with_context(|| format!("cannot connect to {address}"))?;
        stream.set_nodelay(true)?;
        Ok(Self {
            stream,
            buffer: Vec::with_capacity(2048),
        })
    }

    pub async fn exchange(&mut self, request: &[u8]) -> Result<Reply<'_>> {
        self.send(request).await?;
        self.receive().await
    }

    pub async fn send(&mut self, request: &[u8]) -> Result<()> {
        self.stream.write_all(request).await.context("cannot send the request")
    }

    pub async fn receive(&mut self) -> Result<Reply<'_>> {
        self.buffer.clear();
        let (status, body) = loop {
            let read = self
                .stream
                .read_buf(&mut self.buffer)
                .await
                .context("cannot read the reply")?;
            ensure!(read > 0, "the server closed the connection before it replied");
            ensure!(
                self.buffer.len() <= MAX_REPLY_BYTES,
                "the reply is larger than {MAX_REPLY_BYTES} bytes"
            );
            if let Some(reply) = complete_reply(&self.buffer)? {
                break reply;
            }
        };
        Ok(Reply {
            status,
            body: &self.buffer[body],
        })
    }

    /// One JSON call on a new connection, outside any measurement.
    pub async fn call(
        address: SocketAddr,
        method: &str,
        path: &str,
        token: Option<&str>,
        body: Option<serde_json::Value>,
    ) -> Result<(u16, serde_json::Value)> {
        let text = body.map(|body| body.to_string());
        let mut connection = Self::open(address).await?;
        let reply = connection
            .exchange(&render(method, path, token, text.as_deref()))
            .await?;
        let value = serde_json::from_slice(reply.body).unwrap_or(serde_json::Value::Null);
        Ok((reply.status, value))
    }
}

/// Returns the status and the byte range of the body once the reply is complete.
fn complete_reply(bytes: &[u8]) -> Result<Option<(u16, Range<usize>)>> {
    let Some(head) = Head::find(bytes)? else {
        return Ok(None);
    };
    let status = head.first_line().get(9..12).and_then(|code| code.parse().ok());
    let status: u16 = status.context("the reply has no status line")?;
    let length = match head.content_length()? {
        Some(length) => length,
        None if status == 204 || status == 304 => 0,
        None => bail!("the reply has no content-length"),
    };
    let body = head.length..head.length + length;
    Ok((bytes.len() >= body.end).then_some((status, body)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_is_complete_with_its_last_byte() {
        let reply = b"HTTP/1.1 202 Accepted\r\nContent-Length: 4\r\n\r\nbody";
        assert_eq!(complete_reply(&reply[..reply.len() - 1]).expect("no error"), None);
        assert_eq!(complete_reply(reply).expect("no error"), Some((202, 44..48)));
    }

    #[test]
    fn a_reply_without_a_body_needs_no_length() {
        assert_eq!(
            complete_reply(b"HTTP/1.1 304 Not Modified\r\n\r\n").expect("no error"),
            Some((304, 29..29))
        );
        assert!(complete_reply(b"HTTP/1.1 200 OK\r\n\r\n").is_err());
    }
}
