use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use futures_util::{SinkExt, StreamExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};
use tokio_tungstenite::{WebSocketStream, client_async};

/// A server that is silent for longer has lost a message.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);

/// One WebSocket, text only.
pub struct WebSocket {
    stream: WebSocketStream<TcpStream>,
}

impl WebSocket {
    pub async fn open(address: SocketAddr, path: &str) -> Result<Self> {
        Self::open_on(socket_for(address)?, address, path).await
    }

    /// Opens a socket with a small kernel receive buffer, so that the server soon notices a client that does not read.
    pub async fn open_with_receive_buffer(address: SocketAddr, path: &str, receive_buffer: u32) -> Result<Self> {
        let socket = socket_for(address)?;
        socket.set_recv_buffer_size(receive_buffer)?;
        Self::open_on(socket, address, path).await
    }

    async fn open_on(socket: TcpSocket, address: SocketAddr, path: &str) -> Result<Self> {
        let stream = socket
            .connect(address)
            .await
            .with_context(|| format!("cannot connect to {address}"))?;
        stream.set_nodelay(true)?;
        let upgrade = client_async(format!("ws://{address}{path}"), stream);
        let upgraded = timeout(IDLE_TIMEOUT, upgrade)
            .await
            .context("no reply to the upgrade")?;
        let (stream, _) = upgraded.with_context(|| format!("{path} is no WebSocket"))?;
        Ok(Self { stream })
    }

    pub async fn send(&mut self, text: impl Into<Utf8Bytes>) -> Result<()> {
        let sent = timeout(IDLE_TIMEOUT, self.stream.send(Message::Text(text.into()))).await;
        sent.context("the server stopped reading")?
            .context("cannot send a message")
    }

    pub async fn next(&mut self) -> Result<Utf8Bytes> {
        loop {
            let message = timeout(IDLE_TIMEOUT, self.stream.next()).await;
            let message = message.with_context(|| format!("no message from the server for {IDLE_TIMEOUT:?}"))?;
            match message.context("the server hung up")?? {
                Message::Text(text) => return Ok(text),
                Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => {}
                Message::Close(why) => bail!("the server closed the socket: {why:?}"),
                Message::Binary(_) => bail!("the server sent bytes instead of text"),
            }
        }
    }
}

fn socket_for(address: SocketAddr) -> Result<TcpSocket> {
    ensure!(address.ip().is_loopback(), "{address} is not on this machine");
    Ok(if address.is_ipv4() {
        TcpSocket::new_v4()?
    } else {
        TcpSocket::new_v6()?
    })
}
