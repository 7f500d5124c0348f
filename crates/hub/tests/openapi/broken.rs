//! A failing store: every call that needs it returns 503 with an id, and leaks no details.

use std::fs::OpenOptions;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use serde_json::json;

use crate::call::{get, post};
use crate::document::Document;
use crate::scene::{Scene, Seen};

/// Routes that the writer still answers from its cache, or that need no store.
const WITHOUT_STORE: [&str; 2] = ["/ready", "/metrics"];

#[tokio::test]
async fn failing_store_gives_503_on_every_route_that_documents_it() {
    let scene = Scene::new(&Seen::default()).await;
    for file in ["hub.db", "hub.db-wal"] {
        blank(&scene.scratch.0.join(file));
    }
    let document = Document::read();
    for (method, path) in document.operations() {
        if !document.statuses(method, path).contains(&503) || WITHOUT_STORE.contains(&path) {
            continue;
        }
        let call = if method == "get" {
            get(path)
        } else {
            post(path).json(&json!({}))
        };
        let reply = scene
            .expect(503, call.at("msg_00000000000000000000000000").by(&scene.owner))
            .await;
        let error = &reply.json()["error"];
        assert!(error["id"].is_string(), "{method} {path}: {error}");
        assert!(!error.to_string().contains("sql"), "{method} {path}: {error}");
    }
}

/// Overwrites a file with zeros in place, as a disk might.
fn blank(path: &Path) {
    let mut file = OpenOptions::new().write(true).open(path).expect("the store's file");
    let length = file.seek(SeekFrom::End(0)).expect("a length");
    file.seek(SeekFrom::Start(0)).expect("its start");
    file.write_all(&vec![0; usize::try_from(length).expect("a small file")])
        .expect("room");
}
