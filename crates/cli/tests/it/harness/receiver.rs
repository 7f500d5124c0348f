//! A scripted callback endpoint. Written on bare TCP, so that it can also misbehave: hang, redirect, or send an
//! endless body.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};

use super::wait::within;

#[derive(Clone, Debug)]
pub enum PushReply {
    Status(u16),
    Redirect(String),
    /// Reads the request and does not reply, until `hang_up`.
    Hang,
    /// Replies 200 with an endless body.
    Endless,
    /// Closes the connection without a reply.
    HangUp,
}

/// One request that reached the receiver.
#[derive(Clone, Debug)]
pub struct Push {
    pub path: String,
    pub headers: HashMap<String, String>,
    pub body: Vec<u8>,
}

impl Push {
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("a pushed body is JSON")
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map(String::as_str).unwrap_or_default()
    }

    pub fn resolution_id(&self) -> String {
        self.json()["resolution_id"]
            .as_str()
            .expect("a resolution_id")
            .to_owned()
    }
}

#[derive(Default)]
struct Script {
    next: HashMap<String, VecDeque<PushReply>>,
    default: Option<PushReply>,
}

pub struct Receiver {
    port: u16,
    script: Arc<Mutex<Script>>,
    pushes: watch::Receiver<Vec<Push>>,
    hang_up_signal: Arc<Notify>,
}

impl Receiver {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let port = listener.local_addr().expect("a bound address").port();
        let script = Arc::new(Mutex::new(Script::default()));
        let (sender, pushes) = watch::channel(Vec::new());
        let shared = script.clone();
        let sender = Arc::new(sender);
        let hang_up_signal = Arc::new(Notify::new());
        let signal = Arc::clone(&hang_up_signal);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, shared.clone(), sender.clone(), Arc::clone(&signal)));
            }
        });
        Self {
            port,
            script,
            pushes,
            hang_up_signal,
        }
    }

    pub fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.host())
    }

    /// Queues replies for the next requests to `path`. All other requests get 200, or the `default_reply`.
    pub fn script(&self, path: &str, replies: &[PushReply]) {
        self.script
            .lock()
            .unwrap()
            .next
            .entry(path.to_owned())
            .or_default()
            .extend(replies.iter().cloned());
    }

    /// The reply to every unscripted request from now on.
    pub fn default_reply(&self, reply: PushReply) {
        self.script.lock().unwrap().default = Some(reply);
    }

    /// Closes the connections that hang.
    pub fn hang_up(&self) {
        self.hang_up_signal.notify_waiters();
    }

    pub fn seen(&self) -> Vec<Push> {
        self.pushes.borrow().clone()
    }

    pub async fn until(&self, what: &str, enough: impl FnMut(&Vec<Push>) -> bool) -> Vec<Push> {
        let mut pushes = self.pushes.clone();
        within(what, pushes.wait_for(enough))
            .await
            .expect("the receiver runs")
            .clone()
    }

    /// Waits for `count` pushes to `path`, and returns them.
    pub async fn at(&self, path: &str, count: usize) -> Vec<Push> {
        let of_path = |all: &Vec<Push>| all.iter().filter(|push| push.path == path).cloned().collect::<Vec<_>>();
        let all = self
            .until(&format!("{count} pushes to {path}"), |all| of_path(all).len() >= count)
            .await;
        of_path(&all)
    }
}

async fn serve(
    stream: TcpStream,
    script: Arc<Mutex<Script>>,
    pushes: Arc<watch::Sender<Vec<Push>>>,
    hang_up_signal: Arc<Notify>,
) {
    let mut stream = BufReader::new(stream);
    while let Some(push) = read_request(&mut stream).await {
        // Created before the push is visible to the test, so that an early `hang_up` is not missed.
        let hang_up_signal = hang_up_signal.notified();
        let reply = {
            let mut script = script.lock().unwrap();
            let scripted = script.next.get_mut(&push.path).and_then(VecDeque::pop_front);
            scripted
                .or_else(|| script.default.clone())
                .unwrap_or(PushReply::Status(200))
        };
        pushes.send_modify(|all| all.push(push));
        let head = match reply {
            PushReply::Status(status) => format!("HTTP/1.1 {status} x\r\ncontent-length: 0\r\n\r\n"),
            PushReply::Redirect(to) => format!("HTTP/1.1 302 x\r\nlocation: {to}\r\ncontent-length: 0\r\n\r\n"),
            PushReply::Endless => return drip(stream).await,
            PushReply::Hang => return hang_up_signal.await,
            PushReply::HangUp => return,
        };
        if stream.get_mut().write_all(head.as_bytes()).await.is_err() {
            return;
        }
    }
}

async fn drip(mut stream: BufReader<TcpStream>) {
    let head = "HTTP/1.1 200 x\r\ntransfer-encoding: chunked\r\n\r\n";
    let chunk = format!("1000\r\n{}\r\n", "x".repeat(0x1000));
    let mut sent = stream.get_mut().write_all(head.as_bytes()).await;
    while sent.is_ok() {
        sent = stream.get_mut().write_all(chunk.as_bytes()).await;
    }
}

async fn read_request(stream: &mut BufReader<TcpStream>) -> Option<Push> {
    let mut line = String::new();
    stream.read_line(&mut line).await.ok().filter(|&read| read > 0)?;
    let path = line.split(' ').nth(1)?.to_owned();
    let mut headers = HashMap::new();
    loop {
        line.clear();
        stream.read_line(&mut line).await.ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            break;
        };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = headers
        .get("content-length")
        .and_then(|length| length.parse().ok())
        .unwrap_or(0);
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    Some(Push { path, headers, body })
}
