//! `countersign receive`: accepted and refused pushes, and the stop.

use serde_json::json;

use super::action_log::{ActionLog, exec};
use super::{message_id, stage};
use crate::harness::*;

/// A hub, an agent, and a proxy at the callback address with the receiver behind it.
pub struct ReceiverSetup {
    pub hub: Hub,
    pub bot: Agent,
    pub front: Proxy,
    pub terminal: Terminal,
    pub action_log: ActionLog,
}

impl ReceiverSetup {
    pub async fn open() -> Self {
        let (hub, bot, terminal) = stage().await;
        let front = Proxy::start().await;
        hub.approve(&bot, &front.host()).await;
        let terminal = terminal.env("COUNTERSIGN_SIGNING_KEY", &bot.signing_key);
        let action_log = ActionLog::new(&hub);
        Self {
            hub,
            bot,
            front,
            terminal,
            action_log,
        }
    }

    pub fn url(&self) -> String {
        self.front.url("/resume")
    }

    /// Starts a receiver that runs `command`, and forwards the callback address to it.
    pub async fn receive(&self, command: &[String]) -> Process {
        self.receive_at(&self.terminal, &self.url(), command).await
    }

    pub async fn receive_at(&self, terminal: &Terminal, url: &str, command: &[String]) -> Process {
        let args = ["receive", "--listen", "127.0.0.1:0", "--url", url, "--path", "/resume"];
        let process = terminal.start(&exec(&args, command));
        self.front.forward_to(&address(&process).await);
        process
    }

    /// Submits an ask whose answer is pushed to the callback address.
    pub async fn asked(&self) -> String {
        self.bot.accepted(&push_to(ask(&self.bot.id), &self.url())).await
    }
}

/// The address that a receiver prints.
pub async fn address(receiver: &Process) -> String {
    let output = receiver.stdout_with("listening on http://").await;
    let line = output.lines().next().unwrap_or_default();
    let url: reqwest::Url = line.trim_start_matches("listening on ").parse().expect("an address");
    url.origin().ascii_serialization()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_command_is_not_run_again() {
    let setup = ReceiverSetup::open().await;
    let command = setup.action_log.command();
    let failing: Vec<String> = ["sh", "-c", &format!("{}; exit 3", command[2]), &command[3]]
        .map(str::to_owned)
        .into();
    let id = setup.asked().await;
    let receiver = setup.receive(&failing).await;
    setup.hub.owner.answer(&id, "approve").await.expect(200);
    let delivery = setup.hub.delivery(&id, "delivered").await;
    assert_eq!(delivery["attempts"], 1, "{delivery}");
    assert_eq!(setup.action_log.ids(), [id.as_str()]);
    assert!(
        receiver.stderr_with(&id).await.contains('3'),
        "the exit code is told: {}",
        receiver.output()
    );
    let listed = setup.terminal.run(&["journal", "--json"]).ok();
    assert!(listed.contains(&id) && listed.contains("failed"), "{listed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_redelivery_after_a_lost_reply_runs_nothing_again() {
    let setup = ReceiverSetup::open().await;
    let id = setup.asked().await;
    let _receiver = setup.receive(&setup.action_log.command()).await;
    setup
        .front
        .inject_faults("/resume", &[Fault::LoseReply, Fault::LoseReply]);
    setup.hub.owner.answer(&id, "approve").await.expect(200);
    let delivery = setup.hub.delivery(&id, "delivered").await;
    assert_eq!(delivery["attempts"], 3, "{delivery}");
    assert_eq!(setup.action_log.ids(), [id]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_waits_for_the_running_command() {
    let setup = ReceiverSetup::open().await;
    let id = setup.asked().await;
    let receiver = setup.receive(&setup.action_log.gated()).await;
    setup.hub.owner.answer(&id, "approve").await.expect(200);
    let worker = setup.action_log.begun(1).await.remove(0);
    receiver.signal("TERM");
    setup.action_log.open_gate(&worker);
    assert_eq!(receiver.finish().code, 0);
    assert_eq!(setup.action_log.ids(), [id.as_str()]);
    let listed = setup.terminal.run(&["journal", "--json"]).ok();
    assert!(listed.contains(&id) && listed.contains("done"), "{listed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_to_different_messages_run_in_parallel() {
    let setup = ReceiverSetup::open().await;
    let ids = [setup.asked().await, setup.asked().await];
    let _receiver = setup.receive(&setup.action_log.gated()).await;
    for id in &ids {
        setup.hub.owner.answer(id, "approve").await.expect(200);
    }
    for worker in setup.action_log.begun(2).await {
        setup.action_log.open_gate(&worker);
    }
    for id in &ids {
        setup.hub.delivery(id, "delivered").await;
    }
    let mut done = setup.action_log.ids();
    let mut ids = ids.to_vec();
    done.sort();
    ids.sort();
    assert_eq!(done, ids);
}

#[tokio::test(flavor = "multi_thread")]
async fn unsigned_and_malformed_requests_are_refused() {
    let setup = ReceiverSetup::open().await;
    let receiver = setup.receive(&setup.action_log.command()).await;
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
    // On its own connection, because the server may close the connection of a client that keeps sending.
    let flooder = Api::anonymous(&address(&receiver).await);
    let huge = flooder
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
    assert_eq!(setup.action_log.done().len(), 0);

    let id = setup.asked().await;
    setup.hub.owner.answer(&id, "approve").await.expect(200);
    setup.hub.delivery(&id, "delivered").await;
    assert_eq!(setup.action_log.ids(), [id], "and it still works");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receiver_without_a_key_does_not_start() {
    let setup = ReceiverSetup::open().await;
    let terminal = setup.terminal.clone().without("COUNTERSIGN_SIGNING_KEY");
    let url = setup.url();
    let args = ["receive", "--listen", "127.0.0.1:0", "--url", &url];
    let output = terminal.run(&exec(&args, &setup.action_log.command())).fails(1);
    assert!(output.contains("COUNTERSIGN_SIGNING_KEY"), "{output}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ed25519_push_verifies_with_the_public_key_of_the_hub() {
    let setup = ReceiverSetup::open().await;
    let signer = setup.hub.agent_signed_by("acme/signer", "ed25519").await;
    setup.hub.approve(&signer, &setup.front.host()).await;
    let capability = setup.hub.anonymous().get("/.well-known/a2h").await.expect(200);
    let key = capability["signature_keys"][0]["public_key"]
        .as_str()
        .expect("a public key")
        .to_owned();
    let receiver = Receiver::start().await;
    setup.hub.approve(&signer, &receiver.host()).await;
    let url = receiver.url("/signed");
    let id = signer.accepted(&push_to(ask(&signer.id), &url)).await;
    setup.hub.owner.answer(&id, "approve").await.expect(200);
    let push = receiver.at("/signed", 1).await.remove(0);
    let header = format!("A2H-Signature: {}", push.header("a2h-signature"));
    let args = ["verify", "--url", &url, "--header", &header, "--ed25519", &key];
    let terminal = setup.terminal.clone().without("COUNTERSIGN_SIGNING_KEY");
    let ran = terminal.run_with_input(&args, &push.text());
    assert_eq!(ran.code, 0, "{ran:?}");
    let changed = push.text().replace("\"approve\"", "\"deny\"");
    assert_eq!(terminal.run_with_input(&args, &changed).code, 20);
    let output = message_id(&ran.stdout);
    assert_eq!(output, id, "{ran:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_public_key_may_begin_with_a_dash() {
    let (_hub, _bot, terminal) = stage().await;
    let key = format!("-{}", "A".repeat(42));
    let header = "A2H-Signature: t=1,jti=j,v1=AAAA";
    let args = [
        "verify",
        "--url",
        "https://hooks.example/",
        "--header",
        header,
        "--ed25519",
        &key,
    ];
    let ran = terminal.run_with_input(&args, "{}");
    assert_eq!(ran.code, 20, "refused as a push, not as a command line: {ran:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn pushes_of_both_families_are_received() {
    let setup = ReceiverSetup::open().await;
    let _receiver = setup.receive(&setup.action_log.command()).await;
    let mut ids = vec![];
    for envelope in [
        ask(&setup.bot.id),
        ma2h(ask(&setup.bot.id), "0.3"),
        ma2h(ask(&setup.bot.id), "0.6"),
    ] {
        let id = setup.bot.accepted(&push_to(envelope, &setup.url())).await;
        setup.hub.owner.answer(&id, "approve").await.expect(200);
        setup.hub.delivery(&id, "delivered").await;
        ids.push(id);
    }
    assert_eq!(setup.action_log.ids(), ids);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_not_covered_by_the_signature_runs_nothing() {
    let setup = ReceiverSetup::open().await;
    let receiver = setup.receive(&setup.action_log.command()).await;
    let id = setup
        .bot
        .accepted(&push_to(a2h(ask(&setup.bot.id), "0.2"), &setup.url()))
        .await;
    setup.hub.owner.answer(&id, "approve").await.expect(200);
    setup.hub.delivery(&id, "failed").await;
    receiver.stderr_with("0.3").await;
    assert_eq!(setup.action_log.done().len(), 0);
    let ran = setup.terminal.run(&exec(&["wait", &id], &setup.action_log.command()));
    assert_eq!(
        (ran.code, setup.action_log.ids()),
        (0, vec![id]),
        "it can still be pulled: {ran:?}"
    );
}
