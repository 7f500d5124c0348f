//! A scripted DNS resolver that may change its answers.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::IpAddr;
use std::sync::Mutex;

use countersign_hub::delivery::DnsLookup;
use futures_util::future::{BoxFuture, ready};

#[derive(Default)]
pub struct Names {
    answers: Mutex<HashMap<String, VecDeque<Vec<IpAddr>>>>,
    asked: Mutex<Vec<String>>,
}

impl Names {
    /// The answers to the first, second, … query; the last one repeats.
    pub fn answering(name: &str, answers: &[&[&str]]) -> Self {
        let names = Self::default();
        let parsed = answers
            .iter()
            .map(|ips| ips.iter().map(|ip| ip.parse().unwrap()).collect())
            .collect();
        names.answers.lock().unwrap().insert(name.to_owned(), parsed);
        names
    }

    pub fn asked(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

impl DnsLookup for Names {
    fn lookup(&self, name: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        self.asked.lock().unwrap().push(name.to_owned());
        let mut answers = self.answers.lock().unwrap();
        let found = match answers.get_mut(name) {
            Some(left) if left.len() > 1 => left.pop_front(),
            Some(left) => left.front().cloned(),
            None => None,
        };
        Box::pin(ready(found.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))))
    }
}
