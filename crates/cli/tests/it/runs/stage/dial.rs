//! Opening a WebSocket connection, or having it refused.

use futures_util::TryFutureExt;
use tokio::net::{TcpSocket, TcpStream};
use tokio_tungstenite::tungstenite::Error;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::{HeaderName, HeaderValue, Request};
use tokio_tungstenite::{WebSocketStream, client_async};

use super::Client;
use crate::harness::*;

/// Options of a native client's connection: by default no Origin and no credential.
pub struct Dial {
    address: String,
    path: String,
    headers: Vec<(String, String)>,
    receive_buffer: Option<u32>,
}

/// The HTTP reply instead of an upgrade.
#[derive(Debug)]
pub struct Refusal {
    pub status: u16,
    pub body: String,
}

impl Dial {
    pub fn to(hub: &Hub) -> Self {
        Self::at(hub.url.trim_start_matches("http://"))
    }

    pub fn at(address: &str) -> Self {
        Self {
            address: address.to_owned(),
            path: "/ws".to_owned(),
            headers: vec![],
            receive_buffer: None,
        }
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn bearer(self, token: &str) -> Self {
        self.header("authorization", &format!("Bearer {token}"))
    }

    pub fn query(mut self, query: &str) -> Self {
        self.path = format!("/ws?{query}");
        self
    }

    /// The kernel's receive buffer, for a client that does not read.
    pub fn receive_buffer(mut self, bytes: u32) -> Self {
        self.receive_buffer = Some(bytes);
        self
    }

    pub async fn open(self) -> Client {
        match self.attempt().await {
            Ok(socket) => Client::new(socket),
            Err(refusal) => panic!("the upgrade was refused: {refusal:?}"),
        }
    }

    /// A client, unless the upgrade was refused.
    pub async fn try_open(self) -> Option<Client> {
        self.attempt().await.ok().map(Client::new)
    }

    pub async fn refused(self) -> Refusal {
        match self.attempt().await {
            Ok(_) => panic!("the upgrade was not refused"),
            Err(refusal) => refusal,
        }
    }

    async fn attempt(self) -> Result<WebSocketStream<TcpStream>, Refusal> {
        let stream = self.stream().await;
        let request = self.request();
        let opened = client_async(request, stream).map_ok(|(socket, _)| socket);
        within("the upgrade", opened).await.map_err(|error| match error {
            Error::Http(reply) => {
                let body = reply
                    .body()
                    .as_deref()
                    .map(String::from_utf8_lossy)
                    .unwrap_or_default()
                    .into_owned();
                Refusal {
                    status: reply.status().as_u16(),
                    body,
                }
            }
            other => panic!("neither an upgrade nor a reply: {other}"),
        })
    }

    async fn stream(&self) -> TcpStream {
        let address = self.address.parse().expect("an address with a port");
        let socket = TcpSocket::new_v4().expect("a socket");
        if let Some(bytes) = self.receive_buffer {
            socket.set_recv_buffer_size(bytes).expect("a receive buffer");
        }
        let stream = within("a connection", socket.connect(address))
            .await
            .expect("the hub accepts");
        stream.set_nodelay(true).expect("no delay");
        stream
    }

    fn request(&self) -> Request<()> {
        let mut request = format!("ws://{}{}", self.address, self.path)
            .into_client_request()
            .expect("a request");
        for (name, value) in &self.headers {
            let name: HeaderName = name.parse().expect("a header name");
            request
                .headers_mut()
                .insert(name, HeaderValue::from_str(value).expect("a header value"));
        }
        request
    }
}
