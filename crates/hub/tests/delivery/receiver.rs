//! A callback endpoint on bare TCP, so that it can also misbehave.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use crate::stage::within;

#[derive(Clone, Debug)]
pub enum Act {
    Status(u16),
    Redirect(String),
    /// Takes the request and never answers.
    Hang,
    /// Closes the connection without a response.
    HangUp,
    /// Answers 200 with an endless body.
    Endless,
    /// Answers 200 and announces a body that never comes.
    Stall,
}

#[derive(Clone, Debug)]
pub struct Push {
    pub headers: HashMap<String, String>,
    pub body: Vec<u8>,
}

impl Push {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map(String::as_str).unwrap_or_default()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

#[derive(Clone, Debug, Default)]
pub struct Seen {
    pub connections: usize,
    pub pushes: Vec<Push>,
    /// Connections that the hub closed in the middle of an endless body.
    pub cut_off: usize,
}

struct Shared {
    script: Mutex<VecDeque<Act>>,
    otherwise: Mutex<Act>,
    seen: watch::Sender<Seen>,
}

pub struct Receiver {
    pub port: u16,
    shared: Arc<Shared>,
}

impl Receiver {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let otherwise = Mutex::new(Act::Status(200));
        let shared = Arc::new(Shared {
            script: Mutex::default(),
            otherwise,
            seen: watch::Sender::default(),
        });
        let serving = Arc::clone(&shared);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                serving.seen.send_modify(|seen| seen.connections += 1);
                tokio::spawn(serve(stream, Arc::clone(&serving)));
            }
        });
        Self { port, shared }
    }

    pub fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/resume", self.port)
    }

    /// Sets the acts of the next requests.
    pub fn script(&self, acts: &[Act]) {
        self.shared.script.lock().unwrap().extend(acts.iter().cloned());
    }

    /// Sets the act of every unscripted request from now on.
    pub fn otherwise(&self, act: Act) {
        *self.shared.otherwise.lock().unwrap() = act;
    }

    pub fn seen(&self) -> Seen {
        self.shared.seen.borrow().clone()
    }

    pub async fn until(&self, what: &str, enough: impl FnMut(&Seen) -> bool) -> Seen {
        within(what, self.shared.seen.subscribe().wait_for(enough))
            .await
            .unwrap()
            .clone()
    }

    pub async fn pushes(&self, count: usize) -> Vec<Push> {
        self.until(&format!("{count} pushes"), |seen| seen.pushes.len() >= count)
            .await
            .pushes
    }
}

async fn serve(stream: TcpStream, shared: Arc<Shared>) {
    let mut stream = BufReader::new(stream);
    while let Some(push) = read_request(&mut stream).await {
        let scripted = shared.script.lock().unwrap().pop_front();
        let act = scripted.unwrap_or_else(|| shared.otherwise.lock().unwrap().clone());
        shared.seen.send_modify(|seen| seen.pushes.push(push));
        let head = match act {
            Act::Status(status) => format!("HTTP/1.1 {status} x\r\ncontent-length: 2\r\n\r\nok"),
            Act::Redirect(to) => format!("HTTP/1.1 307 x\r\nlocation: {to}\r\ncontent-length: 0\r\n\r\n"),
            Act::Stall => "HTTP/1.1 200 x\r\ncontent-length: 10\r\n\r\n".to_owned(),
            Act::Endless => return drip(stream, &shared).await,
            Act::Hang => return std::future::pending().await,
            Act::HangUp => return,
        };
        if stream.get_mut().write_all(head.as_bytes()).await.is_err() {
            return;
        }
    }
}

async fn drip(mut stream: BufReader<TcpStream>, shared: &Shared) {
    let chunk = format!("1000\r\n{}\r\n", "x".repeat(0x1000));
    let head = "HTTP/1.1 200 x\r\ntransfer-encoding: chunked\r\n\r\n";
    let mut sent = stream.get_mut().write_all(head.as_bytes()).await;
    while sent.is_ok() {
        sent = stream.get_mut().write_all(chunk.as_bytes()).await;
    }
    shared.seen.send_modify(|seen| seen.cut_off += 1);
}

async fn read_request(stream: &mut BufReader<TcpStream>) -> Option<Push> {
    let mut line = String::new();
    stream.read_line(&mut line).await.ok().filter(|&read| read > 0)?;
    let mut headers = HashMap::new();
    loop {
        line.clear();
        stream.read_line(&mut line).await.ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            break;
        };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length")?.parse().ok()?;
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    Some(Push { headers, body })
}
