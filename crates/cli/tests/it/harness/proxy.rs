//! A fault-injecting HTTP proxy: it can hold back a request, or lose a reply after the request was processed.
//! Its address is known before its target exists.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use super::wait::within;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    /// The request is processed; the connection closes before the reply.
    LoseReply,
    /// The request is processed; the reply never arrives and the connection stays open.
    HoldReply,
    /// The request is never forwarded, and the connection stays open.
    HoldRequest,
}

/// A request that the proxy received.
#[derive(Clone, Debug)]
pub struct Relayed {
    pub path: String,
    pub body: Vec<u8>,
}

#[derive(Default)]
struct Plan {
    target: Option<String>,
    faults: HashMap<String, VecDeque<Fault>>,
}

pub struct Proxy {
    port: u16,
    plan: Arc<Mutex<Plan>>,
    relayed: watch::Receiver<Vec<Relayed>>,
}

impl Proxy {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let port = listener.local_addr().expect("a bound address").port();
        let plan = Arc::new(Mutex::new(Plan::default()));
        let (sender, relayed) = watch::channel(Vec::new());
        let shared = plan.clone();
        let sender = Arc::new(sender);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let plan = shared.clone();
                let sender = sender.clone();
                tokio::spawn(async move { relay(stream, &plan, &sender).await });
            }
        });
        Self { port, plan, relayed }
    }

    pub fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.host())
    }

    /// Sets the target. Until then every connection is closed without a reply.
    pub fn forward_to(&self, url: &str) {
        self.plan.lock().unwrap().target = Some(url.trim_start_matches("http://").trim_end_matches('/').to_owned());
    }

    /// Queues faults for the next requests to `path`; later requests pass through.
    pub fn inject_faults(&self, path: &str, faults: &[Fault]) {
        self.plan
            .lock()
            .unwrap()
            .faults
            .entry(path.to_owned())
            .or_default()
            .extend(faults);
    }

    pub fn at(&self, path: &str) -> Vec<Relayed> {
        self.relayed
            .borrow()
            .iter()
            .filter(|one| one.path == path)
            .cloned()
            .collect()
    }

    /// Waits for `count` requests to `path`. A request with a lost reply counts once the target has replied.
    pub async fn until(&self, path: &str, count: usize) -> Vec<Relayed> {
        let mut relayed = self.relayed.clone();
        let enough = |all: &Vec<Relayed>| all.iter().filter(|one| one.path == path).count() >= count;
        let what = format!("{count} requests to {path}");
        within(&what, relayed.wait_for(enough)).await.expect("the proxy runs");
        self.at(path)
    }
}

struct Request {
    path: String,
    head: String,
    body: Vec<u8>,
}

/// Relays one request per connection; `connection: close` on both sides avoids parsing reply boundaries.
async fn relay(stream: TcpStream, plan: &Mutex<Plan>, relayed: &watch::Sender<Vec<Relayed>>) -> Option<()> {
    let mut client = BufReader::new(stream);
    let request = read_request(&mut client).await?;
    let (target, fault) = {
        let mut plan = plan.lock().unwrap();
        let fault = plan.faults.get_mut(&request.path).and_then(VecDeque::pop_front);
        (plan.target.clone(), fault)
    };
    let note = Relayed {
        path: request.path.clone(),
        body: request.body.clone(),
    };
    if fault == Some(Fault::HoldRequest) {
        relayed.send_modify(|all| all.push(note));
        return std::future::pending().await;
    }
    let reply = forward(&target?, &request).await?;
    relayed.send_modify(|all| all.push(note));
    match fault {
        Some(Fault::LoseReply) => None,
        Some(Fault::HoldReply) => std::future::pending().await,
        _ => client.get_mut().write_all(&reply).await.ok(),
    }
}

async fn forward(target: &str, request: &Request) -> Option<Vec<u8>> {
    let mut hub = TcpStream::connect(target).await.ok()?;
    hub.write_all(request.head.as_bytes()).await.ok()?;
    hub.write_all(&request.body).await.ok()?;
    let mut reply = Vec::new();
    hub.read_to_end(&mut reply).await.ok()?;
    Some(reply)
}

async fn read_request(client: &mut BufReader<TcpStream>) -> Option<Request> {
    let mut line = String::new();
    client.read_line(&mut line).await.ok().filter(|&read| read > 0)?;
    let path = line.split(' ').nth(1)?.split('?').next()?.to_owned();
    let mut head = format!("{line}connection: close\r\n");
    let mut length = 0;
    loop {
        line.clear();
        client.read_line(&mut line).await.ok()?;
        let header = line.to_ascii_lowercase();
        if let Some(value) = header.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        if !header.starts_with("connection:") {
            head.push_str(&line);
        }
        if line.trim_end().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    client.read_exact(&mut body).await.ok()?;
    Some(Request { path, head, body })
}
