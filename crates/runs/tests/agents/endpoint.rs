//! A scripted OpenAI-compatible endpoint on bare TCP, which can also misbehave.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use crate::stage::within;

#[derive(Clone, Debug)]
pub enum Act {
    /// Events, sent in pieces of this many bytes.
    Stream(String, usize),
    /// Sends these bytes of a stream, then closes the connection.
    Break(String),
    /// Sends these bytes of a stream, then stalls.
    Stall(String),
    /// Sends these bytes of a stream again and again.
    Endless(String),
    /// Status, further header lines, body.
    Reply(u16, String, String),
    /// Takes the request and never answers.
    Hang,
    /// Closes the connection without a response.
    HangUp,
}

#[derive(Clone, Debug)]
pub struct Request {
    pub line: String,
    pub headers: HashMap<String, String>,
    pub body: Value,
}

#[derive(Clone, Debug, Default)]
pub struct Seen {
    pub requests: Vec<Request>,
    /// Connections that the client closed before the end of the response.
    pub cut_off: usize,
}

struct Shared {
    script: Mutex<VecDeque<Act>>,
    seen: watch::Sender<Seen>,
}

pub struct Model {
    port: u16,
    shared: Arc<Shared>,
}

impl Model {
    /// Starts the endpoint with one act per request.
    pub async fn start(acts: impl IntoIterator<Item = Act>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let script = Mutex::new(acts.into_iter().collect());
        let shared = Arc::new(Shared {
            script,
            seen: watch::Sender::default(),
        });
        let serving = Arc::clone(&shared);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&serving)));
            }
        });
        Self { port, shared }
    }

    pub fn base_url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    pub fn requests(&self) -> Vec<Request> {
        self.shared.seen.borrow().requests.clone()
    }

    pub async fn until(&self, what: &str, enough: impl FnMut(&Seen) -> bool) {
        drop(
            within(what, self.shared.seen.subscribe().wait_for(enough))
                .await
                .unwrap(),
        );
    }
}

async fn serve(stream: TcpStream, shared: Arc<Shared>) {
    let mut stream = BufReader::new(stream);
    while let Some(request) = read_request(&mut stream).await {
        shared.seen.send_modify(|seen| seen.requests.push(request));
        let act = shared
            .script
            .lock()
            .unwrap()
            .pop_front()
            .expect("no request beyond the script");
        if !play(&mut stream, act, &shared).await {
            return;
        }
    }
}

/// Returns true if the connection can carry another request.
async fn play(stream: &mut BufReader<TcpStream>, act: Act, shared: &Shared) -> bool {
    match act {
        Act::Stream(text, size) => {
            begin(stream).await && send(stream, &text, size).await && stream.write_all(b"0\r\n\r\n").await.is_ok()
        }
        Act::Break(text) => {
            begin(stream).await;
            send(stream, &text, usize::MAX).await;
            false
        }
        Act::Stall(text) => {
            begin(stream).await;
            send(stream, &text, usize::MAX).await;
            cut_off(stream, shared).await
        }
        Act::Endless(text) => {
            begin(stream).await;
            while send(stream, &text, usize::MAX).await {}
            shared.seen.send_modify(|seen| seen.cut_off += 1);
            false
        }
        Act::Reply(status, headers, body) => {
            let length = body.len();
            let reply = format!("HTTP/1.1 {status} x\r\n{headers}content-length: {length}\r\n\r\n{body}");
            stream.write_all(reply.as_bytes()).await.is_ok()
        }
        Act::Hang => cut_off(stream, shared).await,
        Act::HangUp => false,
    }
}

async fn begin(stream: &mut BufReader<TcpStream>) -> bool {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).await.is_ok()
}

/// Sends every piece as its own chunk, so that it also arrives as one.
async fn send(stream: &mut BufReader<TcpStream>, text: &str, size: usize) -> bool {
    let mut bytes = Vec::new();
    for piece in text.as_bytes().chunks(size) {
        bytes.extend_from_slice(format!("{:x}\r\n", piece.len()).as_bytes());
        bytes.extend_from_slice(piece);
        bytes.extend_from_slice(b"\r\n");
    }
    stream.write_all(&bytes).await.is_ok()
}

/// Waits until the client closes the connection.
async fn cut_off(stream: &mut BufReader<TcpStream>, shared: &Shared) -> bool {
    drop(stream.read_u8().await);
    shared.seen.send_modify(|seen| seen.cut_off += 1);
    false
}

async fn read_request(stream: &mut BufReader<TcpStream>) -> Option<Request> {
    let mut first = String::new();
    stream.read_line(&mut first).await.ok().filter(|&read| read > 0)?;
    let mut headers = HashMap::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            break;
        };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length")?.parse().ok()?;
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    Some(Request {
        line: first.trim_end().to_owned(),
        headers,
        body: serde_json::from_slice(&body).unwrap(),
    })
}

/// A complete event stream of these chunks.
pub fn events(chunks: impl IntoIterator<Item = Value>) -> String {
    let lines: String = chunks.into_iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    format!("{lines}data: [DONE]\n\n")
}

pub fn delta(delta: Value) -> Value {
    json!({"id": "c", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

pub fn word(text: &str) -> Value {
    delta(json!({"content": text}))
}

pub fn finish(reason: &str) -> Value {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": null})
}

pub fn count(prompt: u64, completion: u64) -> Value {
    json!({"choices": [], "usage": {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": 0}})
}

/// An answer streamed in these pieces.
pub fn answer(words: &[&str]) -> String {
    let words = words.iter().map(|text| word(text));
    events(words.chain([finish("stop"), count(3, 2)]))
}

/// An answer of tool calls only, each in two pieces.
pub fn calls(calls: &[(&str, &str, &str)]) -> String {
    let mut chunks = vec![delta(json!({"role": "assistant", "content": null}))];
    for (index, (id, name, arguments)) in calls.iter().enumerate() {
        let (first, rest) = arguments.split_at(arguments.len() / 2);
        let begin =
            json!({"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": first}});
        chunks.push(delta(json!({"tool_calls": [begin]})));
        chunks.push(delta(
            json!({"tool_calls": [{"index": index, "function": {"arguments": rest}}]}),
        ));
    }
    chunks.extend([finish("tool_calls"), count(10, 5)]);
    events(chunks)
}
