//! One request to the hub, named by its path in the document.

use axum::body::Body;
use axum::http::{HeaderMap, Request};
use serde_json::Value;

#[derive(Debug, Clone)]
pub struct Call<'a> {
    pub method: &'static str,
    /// The path as in the document, with `{id}`.
    pub path: &'a str,
    filled_path: String,
    query: String,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
}

#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl Reply {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("a JSON reply")
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
    }
}

pub fn get(path: &str) -> Call<'_> {
    Call {
        method: "get",
        path,
        filled_path: path.to_owned(),
        query: String::new(),
        headers: Vec::new(),
        body: Vec::new(),
    }
}

pub fn post(path: &str) -> Call<'_> {
    Call {
        method: "post",
        ..get(path)
    }
}

impl Call<'_> {
    /// Sets `{id}` in the path, and `{index}` to 0.
    pub fn at(mut self, word: &str) -> Self {
        self.filled_path = self.filled_path.replace("{id}", word).replace("{index}", "0");
        self
    }

    /// Sets `{agent_id}` in the path.
    pub fn of(mut self, agent_id: &str) -> Self {
        self.filled_path = self.filled_path.replace("{agent_id}", agent_id);
        self
    }

    /// Sets `{index}` in the path. Call it before `at`.
    pub fn nth(mut self, index: &str) -> Self {
        self.filled_path = self.filled_path.replace("{index}", index);
        self
    }

    pub fn query(mut self, query: &str) -> Self {
        self.query = format!("?{query}");
        self
    }

    pub fn by(self, token: &str) -> Self {
        let value = format!("Bearer {token}");
        self.header("authorization", &value)
    }

    pub fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    pub fn json(self, body: &Value) -> Self {
        self.raw(body.to_string().as_bytes())
    }

    pub fn raw(mut self, body: &[u8]) -> Self {
        self.body = body.to_vec();
        self
    }

    pub fn sent(&self) -> Option<Value> {
        serde_json::from_slice(&self.body).ok()
    }

    pub fn request(&self) -> Request<Body> {
        let mut request = Request::builder()
            .method(self.method.to_uppercase().as_str())
            .uri(format!("{}{}", self.filled_path, self.query));
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        request.body(Body::from(self.body.clone())).expect("a request")
    }
}
