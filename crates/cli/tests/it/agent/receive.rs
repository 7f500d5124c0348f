//! `countersign receive`: what it takes, what it refuses, and how it stops.

use serde_json::json;

use super::act::{Acts, exec};
use super::{message_id, stage};
use crate::harness::*;

/// The place where pushes come in: a hub, an agent, a front address that is the callback, and the receiver behind it.
pub struct Counter {
    pub hub: Hub,
    pub bot: Agent,
    pub front: Proxy,
    pub terminal: Terminal,
    pub acts: Acts,
}

impl Counter {
    pub async fn open() -> Self {
        let (hub, bot, terminal) = stage().await;
        let front = Proxy::start().await;
        hub.approve(&bot, &front.host()).await;
        let terminal = terminal.env("COUNTERSIGN_SIGNING_KEY", &bot.signing_key);
        let acts = Acts::new(&hub);
        Self {
            hub,
            bot,
            front,
            terminal,
            acts,
        }
    }

    pub fn url(&self) -> String {
        self.front.url("/resume")
    }

    /// Starts a receiver that runs `command`, and leads the callback address to it.
    pub async fn receive(&self, command: &[String]) -> Process {
        self.receive_at(&self.terminal, &self.url(), command).await
    }

    pub async fn receive_at(&self, terminal: &Terminal, url: &str, command: &[String]) -> Process {
        let words = ["receive", "--listen", "127.0.0.1:0", "--url", url, "--path", "/resume"];
        let process = terminal.start(&exec(&words, command));
        self.front.lead_to(&address(&process).await);
        process
    }

    /// Asks something whose answer comes to the callback address.
    pub async fn asked(&self) -> String {
        self.bot.accepted(&push_to(ask(&self.bot.id), &self.url())).await
    }
}

/// Where a receiver says that it listens.
pub async fn address(receiver: &Process) -> String {
    let said = receiver.stdout_with("listening on http://").await;
    let line = said.lines().next().unwrap_or_default();
    let url: reqwest::Url = line.trim_start_matches("listening on ").parse().expect("an address");
    url.origin().ascii_serialization()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_fails_was_still_run_once() {
    let counter = Counter::open().await;
    let command = counter.acts.command();
    let failing: Vec<String> = ["sh", "-c", &format!("{}; exit 3", command[2]), &command[3]]
        .map(str::to_owned)
        .into();
    let id = counter.asked().await;
    let receiver = counter.receive(&failing).await;
    counter.hub.owner.answer(&id, "approve").await.expect(200);
    let delivery = counter.hub.delivery(&id, "delivered").await;
    assert_eq!(delivery["attempts"], 1, "{delivery}");
    assert_eq!(counter.acts.ids(), [id.as_str()]);
    assert!(
        receiver.stderr_with(&id).await.contains('3'),
        "the exit code is told: {}",
        receiver.output()
    );
    let listed = counter.terminal.run(&["journal", "--json"]).ok();
    assert!(listed.contains(&id) && listed.contains("failed"), "{listed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_that_did_not_hear_the_reply_comes_again_and_nothing_is_done_again() {
    let counter = Counter::open().await;
    let id = counter.asked().await;
    let _receiver = counter.receive(&counter.acts.command()).await;
    counter.front.disturb("/resume", &[Fault::LoseReply, Fault::LoseReply]);
    counter.hub.owner.answer(&id, "approve").await.expect(200);
    let delivery = counter.hub.delivery(&id, "delivered").await;
    assert_eq!(delivery["attempts"], 3, "{delivery}");
    assert_eq!(counter.acts.ids(), [id]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_waits_for_the_command_that_runs() {
    let counter = Counter::open().await;
    let id = counter.asked().await;
    let receiver = counter.receive(&counter.acts.gated()).await;
    counter.hub.owner.answer(&id, "approve").await.expect(200);
    let worker = counter.acts.begun(1).await.remove(0);
    receiver.signal("TERM");
    counter.acts.open_gate(&worker);
    assert_eq!(receiver.finish().code, 0);
    assert_eq!(counter.acts.ids(), [id.as_str()]);
    let listed = counter.terminal.run(&["journal", "--json"]).ok();
    assert!(listed.contains(&id) && listed.contains("done"), "{listed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_to_different_messages_do_not_wait_for_each_other() {
    let counter = Counter::open().await;
    let ids = [counter.asked().await, counter.asked().await];
    let _receiver = counter.receive(&counter.acts.gated()).await;
    for id in &ids {
        counter.hub.owner.answer(id, "approve").await.expect(200);
    }
    for worker in counter.acts.begun(2).await {
        counter.acts.open_gate(&worker);
    }
    for id in &ids {
        counter.hub.delivery(id, "delivered").await;
    }
    let mut done = counter.acts.ids();
    let mut ids = ids.to_vec();
    done.sort();
    ids.sort();
    assert_eq!(done, ids);
}

#[tokio::test(flavor = "multi_thread")]
async fn strangers_get_nowhere() {
    let counter = Counter::open().await;
    let receiver = counter.receive(&counter.acts.command()).await;
    let api = Api::anonymous(&address(&receiver).await);
    let body = json!({"a2h_version": "0.3", "in_reply_to": "msg_1", "resolution_id": "res_1", "resolution": "answered",
        "response": {"actor": "human:owner", "resolved_at": "2026-01-02T03:04:05Z", "value": "approve"}});
    assert_eq!(api.post("/resume", &body).await.status, 401, "no signature");
    let signed = |header: &'static str| {
        api.post_request("/resume", body.to_string())
            .header("a2h-signature", header)
    };
    for header in [
        "",
        "nonsense",
        "t=1",
        "t=1,jti=x,v1=AAAA",
        "t=99999999999999999999,jti=x,v1=AAAA",
    ] {
        let status = Api::send(signed(header)).await.status;
        assert!(status == 401 || status == 400, "{header:?}: {status}");
    }
    for garbage in ["", "{", "[]", "null", "\u{0}"] {
        let request = api
            .post_request("/resume", garbage)
            .header("a2h-signature", "t=1,jti=x,v1=AAAA");
        let status = Api::send(request).await.status;
        assert!(status == 401 || status == 400, "{garbage:?}: {status}");
    }
    // On a connection of its own, because the server may also close it on somebody who does not stop talking.
    let talker = Api::anonymous(&address(&receiver).await);
    let huge = talker
        .post_request("/resume", vec![b' '; 3 << 20])
        .header("a2h-signature", "t=1,jti=x,v1=AAAA");
    if let Ok(reply) = within("a reply", Api::try_send(huge)).await {
        assert!(
            reply.status == 413 || reply.status == 400 || reply.status == 401,
            "{}",
            reply.status
        );
    }
    let status = api.get("/resume").await.status;
    assert!((400..500).contains(&status), "{status}");
    assert!((400..500).contains(&api.post("/elsewhere", &body).await.status));
    assert_eq!(counter.acts.done().len(), 0);

    let id = counter.asked().await;
    counter.hub.owner.answer(&id, "approve").await.expect(200);
    counter.hub.delivery(&id, "delivered").await;
    assert_eq!(counter.acts.ids(), [id], "and it still works");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_key_it_does_not_start() {
    let counter = Counter::open().await;
    let terminal = counter.terminal.clone().without("COUNTERSIGN_SIGNING_KEY");
    let url = counter.url();
    let words = ["receive", "--listen", "127.0.0.1:0", "--url", &url];
    let said = terminal.run(&exec(&words, &counter.acts.command())).fails(1);
    assert!(said.contains("COUNTERSIGN_SIGNING_KEY"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ed25519_agent_is_verified_by_the_keys_of_the_hub() {
    let counter = Counter::open().await;
    let signer = counter.hub.agent_signed_by("acme/signer", "ed25519").await;
    counter.hub.approve(&signer, &counter.front.host()).await;
    let capability = counter.hub.anonymous().get("/.well-known/a2h").await.expect(200);
    let key = capability["signature_keys"][0]["public_key"]
        .as_str()
        .expect("a public key")
        .to_owned();
    let receiver = Receiver::start().await;
    counter.hub.approve(&signer, &receiver.host()).await;
    let url = receiver.url("/signed");
    let id = signer.accepted(&push_to(ask(&signer.id), &url)).await;
    counter.hub.owner.answer(&id, "approve").await.expect(200);
    let push = receiver.at("/signed", 1).await.remove(0);
    let header = format!("A2H-Signature: {}", push.header("a2h-signature"));
    let words = ["verify", "--url", &url, "--header", &header, "--ed25519", &key];
    let terminal = counter.terminal.clone().without("COUNTERSIGN_SIGNING_KEY");
    let ran = terminal.run_with_input(&words, &push.text());
    assert_eq!(ran.code, 0, "{ran:?}");
    let changed = push.text().replace("\"approve\"", "\"deny\"");
    assert_eq!(terminal.run_with_input(&words, &changed).code, 20);
    let said = message_id(&ran.stdout);
    assert_eq!(said, id, "{ran:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_public_key_may_begin_with_a_dash() {
    let (_hub, _bot, terminal) = stage().await;
    let key = format!("-{}", "A".repeat(42));
    let header = "A2H-Signature: t=1,jti=j,v1=AAAA";
    let words = [
        "verify",
        "--url",
        "https://hooks.example/",
        "--header",
        header,
        "--ed25519",
        &key,
    ];
    let ran = terminal.run_with_input(&words, "{}");
    assert_eq!(ran.code, 20, "refused as a push, not as a command line: {ran:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn both_families_are_received() {
    let counter = Counter::open().await;
    let _receiver = counter.receive(&counter.acts.command()).await;
    let mut ids = vec![];
    for envelope in [
        ask(&counter.bot.id),
        ma2h(ask(&counter.bot.id), "0.3"),
        ma2h(ask(&counter.bot.id), "0.6"),
    ] {
        let id = counter.bot.accepted(&push_to(envelope, &counter.url())).await;
        counter.hub.owner.answer(&id, "approve").await.expect(200);
        counter.hub.delivery(&id, "delivered").await;
        ids.push(id);
    }
    assert_eq!(counter.acts.ids(), ids);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_the_signature_does_not_cover_starts_nothing() {
    let counter = Counter::open().await;
    let receiver = counter.receive(&counter.acts.command()).await;
    let id = counter
        .bot
        .accepted(&push_to(a2h(ask(&counter.bot.id), "0.2"), &counter.url()))
        .await;
    counter.hub.owner.answer(&id, "approve").await.expect(200);
    counter.hub.delivery(&id, "failed").await;
    receiver.stderr_with("0.3").await;
    assert_eq!(counter.acts.done().len(), 0);
    let ran = counter.terminal.run(&exec(&["wait", &id], &counter.acts.command()));
    assert_eq!(
        (ran.code, counter.acts.ids()),
        (0, vec![id]),
        "it can still be pulled: {ran:?}"
    );
}
