//! The terminal (HAP) door over plain HTTP, as any program in a terminal would use it.

mod crash;
mod cues;
mod detached;
mod files;
mod hostile;
mod import;
mod join;
mod large_requests;
mod names;
mod presence;
mod quotas;
mod tokens;
mod type_ahead;

use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::harness::*;

/// An agent in a terminal of one person.
#[derive(Clone)]
pub struct TerminalAgent {
    pub api: Api,
    pub agent_id: String,
}

/// A terminal token that survives a restart of the hub.
async fn terminal_token(hub: &Hub, person: &str) -> String {
    let body = json!({"name": person, "terminal": true});
    let made = hub.owner.post("/v1/admin/people/token", &body).await.expect(200);
    made["token"].as_str().expect("a token").to_owned()
}

impl TerminalAgent {
    pub async fn join(hub: &Hub) -> Self {
        Self::join_as(hub, "owner").await
    }

    pub async fn join_as(hub: &Hub, person: &str) -> Self {
        let api = hub.anonymous().bearer(&terminal_token(hub, person).await);
        let location = json!({"runtime": "claude_code", "project_dir": "/home/ann/shop", "terminal": "zsh"});
        let joined = api.post("/v1/hap/join", &location).await.expect(201);
        Self {
            api,
            agent_id: joined["agent_id"].as_str().expect("a name").to_owned(),
        }
    }

    pub fn cue_body(&self, prompt: &str) -> Value {
        json!({"agent_id": self.agent_id, "kind": "cue", "prompt": prompt, "payload": null})
    }

    pub async fn post(&self, body: &Value) -> Reply {
        self.api.post("/v1/hap/cues", body).await
    }

    /// Asks a new cue and returns the whole reply.
    pub async fn ask(&self, prompt: &str) -> Value {
        self.post(&self.cue_body(prompt)).await.expect(201)
    }

    pub async fn ask_for_id(&self, prompt: &str) -> String {
        id(&self.ask(prompt).await)
    }

    pub async fn ask_again(&self, prompt: &str) -> Value {
        let ack = self.post(&self.cue_body(prompt)).await.expect(200);
        assert_eq!(ack["attached"], true, "{ack}");
        ack
    }

    pub async fn get_cue(&self, id: &str) -> Value {
        self.api.get(&format!("/v1/hap/cues/{id}")).await.expect(200)
    }

    /// Long-polls until the cue is resolved.
    pub async fn outcome(&self, id: &str) -> Value {
        let cue = self.api.get(&format!("/v1/hap/cues/{id}?wait=25")).await.expect(200);
        assert_ne!(cue["status"], "open", "{cue}");
        cue
    }

    pub async fn collect(&self, id: &str) {
        assert_eq!(
            self.api
                .post_bytes(&format!("/v1/hap/cues/{id}/collected"), "")
                .await
                .status,
            204
        );
    }

    /// Starts a long-poll and waits until the hub counts it. Aborting the task is like killing the process.
    pub async fn waiting(&self, hub: &Hub, id: &str) -> JoinHandle<Reply> {
        let api = self.api.clone();
        let path = format!("/v1/hap/cues/{id}?wait=60");
        let process = tokio::spawn(async move { api.get(&path).await });
        eventually("the process waits", async || {
            (item(hub, id).await["waiting_now"] == true).then_some(())
        })
        .await;
        process
    }
}

pub fn id(ack: &Value) -> String {
    ack["id"].as_str().expect("an id").to_owned()
}

async fn item(hub: &Hub, id: &str) -> Value {
    hub.owner.get(&format!("/v1/inbox/{id}")).await.expect(200)
}

pub async fn presence(hub: &Hub, id: &str) -> String {
    item(hub, id).await["presence"]["state"]
        .as_str()
        .unwrap_or("none")
        .to_owned()
}

pub async fn until_gone(hub: &Hub, id: &str) {
    eventually("its process is gone", async || {
        (presence(hub, id).await == "gone").then_some(())
    })
    .await;
}
