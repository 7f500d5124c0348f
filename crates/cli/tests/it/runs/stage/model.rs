//! A scripted OpenAI-compatible model server. Written on bare TCP, so that it can also hang, close the connection
//! mid-stream and refuse requests.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};

use crate::harness::*;

/// The reply to one request.
#[derive(Clone)]
pub enum ModelReply {
    Stream(Vec<Part>),
    Refuse {
        status: u16,
        body: String,
    },
    /// Reads the request and never replies.
    Hang,
    /// Closes the connection without a reply.
    HangUp,
}

/// A part of a streamed reply.
#[derive(Clone)]
pub enum Part {
    /// A chat completion chunk.
    Chunk(Value),
    /// Raw text, sent as is.
    Raw(String),
    /// Waits until the gate opens.
    Hold(Gate),
    /// Closes the connection in the middle of the body.
    Cut,
}

/// A gate that stays shut until the test opens it.
#[derive(Clone)]
pub struct Gate(Arc<Semaphore>);

impl Gate {
    pub fn shut() -> Self {
        Self(Arc::new(Semaphore::new(0)))
    }

    pub fn open(&self) {
        self.0.add_permits(1_000);
    }
}

/// A request that the model received.
#[derive(Clone, Debug)]
pub struct ModelRequest {
    pub path: String,
    pub headers: HashMap<String, String>,
    pub body: Value,
}

impl ModelRequest {
    /// The role and content of every message.
    pub fn messages(&self) -> Vec<(String, String)> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let messages = self.body["messages"]
            .as_array()
            .unwrap_or_else(|| panic!("messages: {}", self.body));
        messages
            .iter()
            .map(|message| (text(&message["role"]), text(&message["content"])))
            .collect()
    }
}

fn chunk(delta: Value, finish_reason: Value) -> Part {
    let choice = json!({"index": 0, "delta": delta, "finish_reason": finish_reason});
    Part::Chunk(json!({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}))
}

fn ending(reason: &str) -> Vec<Part> {
    let usage = json!({"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12});
    let usage = json!({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [], "usage": usage});
    vec![
        chunk(json!({}), json!(reason)),
        Part::Chunk(usage),
        Part::Raw("data: [DONE]\n\n".to_owned()),
    ]
}

pub fn text(text: &str) -> Part {
    chunk(json!({"content": text}), Value::Null)
}

/// A streamed text reply; the usage is 7 tokens in, 5 out.
pub fn says(pieces: &[&str]) -> ModelReply {
    let mut parts = vec![chunk(json!({"role": "assistant", "content": ""}), Value::Null)];
    parts.extend(pieces.iter().map(|piece| text(piece)));
    parts.extend(ending("stop"));
    ModelReply::Stream(parts)
}

/// A reply with one `ask_question` tool call per question.
pub fn calls(questions: &[(&str, &str)]) -> ModelReply {
    let mut parts = vec![chunk(json!({"role": "assistant", "content": null}), Value::Null)];
    for (index, (id, question)) in questions.iter().enumerate() {
        parts.extend(tool_call(
            index,
            id,
            "ask_question",
            &json!({"question": question}).to_string(),
        ));
    }
    parts.extend(ending("tool_calls"));
    ModelReply::Stream(parts)
}

/// A tool call with its arguments split over two chunks, as models stream them.
pub fn tool_call(index: usize, id: &str, name: &str, arguments: &str) -> [Part; 2] {
    let middle = arguments
        .char_indices()
        .nth(arguments.chars().count() / 2)
        .map_or(0, |(at, _)| at);
    let (first, rest) = arguments.split_at(middle);
    let head = json!({"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": first}});
    let tail = json!({"index": index, "function": {"arguments": rest}});
    [
        chunk(json!({"tool_calls": [head]}), Value::Null),
        chunk(json!({"tool_calls": [tail]}), Value::Null),
    ]
}

struct ModelState {
    script: Mutex<VecDeque<ModelReply>>,
    requests: watch::Sender<Vec<ModelRequest>>,
    /// The number of requests that the hub abandoned before their end.
    abandoned: watch::Sender<usize>,
}

pub struct Model {
    port: u16,
    state: Arc<ModelState>,
}

impl Model {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let port = listener.local_addr().expect("a bound address").port();
        let state = Arc::new(ModelState {
            script: Mutex::default(),
            requests: watch::Sender::default(),
            abandoned: watch::Sender::default(),
        });
        let shared = state.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, shared.clone()));
            }
        });
        Self { port, state }
    }

    pub fn base_url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    /// The config of a hub that uses this model, with additional keys.
    pub fn config(&self, more: &str) -> String {
        format!(
            "[llm]\nbase_url = \"{}\"\napi_key = \"sk-secret-key\"\n{more}\n",
            self.base_url()
        )
    }

    /// Queues replies for the next requests; later requests get `ok`.
    pub fn script(&self, replies: impl IntoIterator<Item = ModelReply>) {
        self.state.script.lock().unwrap().extend(replies);
    }

    pub fn request_count(&self) -> usize {
        self.state.requests.borrow().len()
    }

    /// Waits for `count` requests, and returns all so far.
    pub async fn requests(&self, count: usize) -> Vec<ModelRequest> {
        let mut requests = self.state.requests.subscribe();
        let enough = requests.wait_for(|all| all.len() >= count);
        within(&format!("{count} requests to the model"), enough)
            .await
            .expect("the model runs")
            .clone()
    }

    /// Waits until the hub has abandoned `count` requests.
    pub async fn until_abandoned(&self, count: usize) {
        let mut abandoned = self.state.abandoned.subscribe();
        within(
            "the hub abandons its request",
            abandoned.wait_for(|&abandoned| abandoned >= count),
        )
        .await
        .expect("the model runs");
    }
}

async fn serve(stream: TcpStream, state: Arc<ModelState>) {
    let mut stream = BufReader::new(stream);
    let Some(request) = read_request(&mut stream).await else {
        return;
    };
    let reply = state
        .script
        .lock()
        .unwrap()
        .pop_front()
        .unwrap_or_else(|| says(&["ok"]));
    state.requests.send_modify(|all| all.push(request));
    match reply {
        ModelReply::Refuse { status, body } => {
            let head = format!("HTTP/1.1 {status} x\r\ncontent-type: application/json\r\nconnection: close\r\n");
            let _ = stream
                .write_all(format!("{head}content-length: {}\r\n\r\n{body}", body.len()).as_bytes())
                .await;
        }
        ModelReply::Stream(parts) => {
            if play(&mut stream, parts).await.is_none() {
                state.abandoned.send_modify(|count| *count += 1);
            }
        }
        ModelReply::Hang => {
            let _ = stream.read_u8().await;
            state.abandoned.send_modify(|count| *count += 1);
        }
        ModelReply::HangUp => {}
    }
}

/// `None` if the hub closes the connection before the end.
async fn play(stream: &mut BufReader<TcpStream>, parts: Vec<Part>) -> Option<()> {
    let head =
        "HTTP/1.1 200 x\r\ncontent-type: text/event-stream\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).await.ok()?;
    for part in parts {
        let bytes = match part {
            Part::Chunk(value) => format!("data: {value}\n\n"),
            Part::Raw(text) => text,
            Part::Cut => return Some(()),
            Part::Hold(gate) => {
                tokio::select! {
                    permit = gate.0.acquire() => permit.expect("the semaphore is never closed").forget(),
                    _ = stream.read_u8() => return None,
                }
                continue;
            }
        };
        stream
            .write_all(format!("{:x}\r\n{bytes}\r\n", bytes.len()).as_bytes())
            .await
            .ok()?;
    }
    stream.write_all(b"0\r\n\r\n").await.ok()
}

async fn read_request(stream: &mut BufReader<TcpStream>) -> Option<ModelRequest> {
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
    Some(ModelRequest {
        path,
        headers,
        body: serde_json::from_slice(&body).ok()?,
    })
}
