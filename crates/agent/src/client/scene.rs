//! A fake hub with scripted replies, one per connection.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use url::Url;

use super::Client;

/// The behaviour for one request, after it was read.
pub enum ScriptedReply {
    Reply(u16, Value),
    /// The connection ends without a reply, as when a 202 is lost.
    Vanish,
    /// No reply until the client disconnects.
    Hang,
}

pub struct Scene {
    pub url: Url,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Scene {
    /// The last reply is repeated for all later connections.
    pub async fn play(script: impl FnOnce(&Url) -> Vec<ScriptedReply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = Url::parse(&format!("http://{}", listener.local_addr().unwrap())).unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let script = script(&url);
        let seen = requests.clone();
        tokio::spawn(async move {
            let mut next = 0;
            while let Ok((stream, _)) = listener.accept().await {
                perform(stream, &script[next], &seen).await;
                next = (next + 1).min(script.len() - 1);
            }
        });
        Self { url, requests }
    }

    pub fn client(&self) -> Client {
        let mut client = Client::new(self.url.clone(), "csa_secret".to_owned()).unwrap();
        client.first_pause = Duration::from_millis(1);
        client
    }

    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    pub fn lines(&self) -> Vec<String> {
        self.requests()
            .iter()
            .map(|request| request.lines().next().unwrap_or_default().to_owned())
            .collect()
    }
}

async fn perform(mut stream: TcpStream, reply: &ScriptedReply, seen: &Mutex<Vec<String>>) {
    let Some(request) = read_request(&mut stream).await else {
        return;
    };
    seen.lock().unwrap().push(request);
    match reply {
        ScriptedReply::Reply(status, body) => {
            let body = body.to_string();
            let head = format!(
                "HTTP/1.1 {status} x\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
                body.len()
            );
            let _ = stream.write_all(format!("{head}{body}").as_bytes()).await;
        }
        ScriptedReply::Vanish => {}
        ScriptedReply::Hang => {
            let _ = stream.read(&mut [0]).await;
        }
    }
}

async fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                return Some(text.into_owned());
            }
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
}
