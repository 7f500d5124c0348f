//! A built page is enough for an implementer: other programs, written from its text, work with a real hub.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::build;
use crate::harness::*;

const AGENT: &str = "acme/bot";

fn beside(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/skill").join(name)
}

/// A real push to the callback of a page that was built for it.
struct PushedPage {
    hub: Hub,
    page: PathBuf,
    id: String,
    push: Push,
    signing_key: String,
}

impl PushedPage {
    async fn new(signature_alg: &str) -> Self {
        let hub = Setup::pushing().start().await;
        hub.person("ann", "resolver").await;
        let receiver = Receiver::start().await;
        let agent = hub.agent_signed_by(AGENT, signature_alg).await;
        hub.approve(&agent, &receiver.host()).await;
        let url = receiver.url("/resume");
        build(&hub, &format!("ask --mode push --callback {url} --to human:ann")).ok();
        let page = hub.scratch().path("out/acme-ask/SKILL.md");
        let mut envelope = example(&page);
        envelope["request"]["allowed_resolvers"] = json!(["human:owner"]);
        let id = agent.accepted(&envelope).await;
        hub.owner.answer(&id, "approve").await.expect(200);
        let push = receiver.at("/resume", 1).await.remove(0);
        let signing_key = agent.signing_key.clone();
        Self {
            hub,
            page,
            id,
            push,
            signing_key,
        }
    }

    /// The verdict of the verifier that was written from the page.
    fn verdict(&self, body: &[u8], seen: &str, offset: i64, sent: &str) -> String {
        let mut command = Command::new("python3");
        command
            .arg(beside("page_verifier.py"))
            .arg(&self.page)
            .arg(self.push.header("a2h-signature"))
            .args([
                sent,
                &self.hub.scratch().path(seen).display().to_string(),
                &offset.to_string(),
            ])
            .env("COUNTERSIGN_SIGNING_KEY", &self.signing_key);
        let ran = Process::spawn(command, body).finish();
        assert_eq!(ran.code == 0, ran.stdout == "good\n", "{ran:?}");
        ran.stdout.trim().to_owned()
    }
}

/// The envelope that the page shows.
fn example(page: &Path) -> Value {
    let text = std::fs::read_to_string(page).expect("a page");
    let mut blocks = text
        .split("```json\n")
        .skip(1)
        .filter_map(|block| block.split("```").next());
    let envelope = blocks.find(|block| block.contains("\"type\"")).expect("an envelope");
    serde_json::from_str(envelope).expect("JSON")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_verifier_written_from_the_page_accepts_the_hubs_push_and_nothing_else() {
    for signature_alg in ["hmac-sha256", "ed25519"] {
        let pushed = PushedPage::new(signature_alg).await;
        let body = pushed.push.body.clone();
        assert_eq!(pushed.verdict(&body, "seen", 0, &pushed.id), "good", "{signature_alg}");
        assert_eq!(pushed.verdict(&body, "seen", 0, &pushed.id), "seen before");
        for offset in [200, -200] {
            assert_eq!(pushed.verdict(&body, "other", offset, &pushed.id), "outside the window");
        }
        assert_eq!(
            pushed.verdict(&body, "other", 0, "msg_of_another_agent"),
            "another message"
        );
        let mut changed = pushed.push.json();
        changed["response"]["value"] = json!("deny");
        let changed = changed.to_string();
        assert_eq!(
            pushed.verdict(changed.as_bytes(), "third", 0, &pushed.id),
            "wrong signature"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_verifier_with_another_key_refuses_the_push() {
    let mut pushed = PushedPage::new("hmac-sha256").await;
    let body = pushed.push.body.clone();
    pushed.signing_key = "whsec_c29tZWJvZHkgZWxzZQ==".to_owned();
    assert_eq!(pushed.verdict(&body, "seen", 0, &pushed.id), "wrong signature");
}

/// The block is run by a shell in a directory that holds the page's envelope, as its reader would do it.
#[tokio::test(flavor = "multi_thread")]
async fn the_curl_lines_of_a_page_send_its_envelope() {
    let hub = Hub::start().await;
    let agent = hub.agent(AGENT).await;
    let outcome = "--mode pull --to human:owner";
    for (kind, flags, status) in [
        ("ask", outcome, "open"),
        ("task", outcome, "open"),
        ("notify", "", "delivered"),
    ] {
        build(&hub, &format!("{kind} {flags} --runtime other --project acme/shop")).ok();
        let page = hub.scratch().path(&format!("out/acme-{kind}/SKILL.md"));
        hub.scratch()
            .write(&format!("{kind}.json"), &example(&page).to_string());
        let text = std::fs::read_to_string(&page).expect("a page");
        let mut blocks = text
            .split("```sh\n")
            .skip(1)
            .filter_map(|block| block.split("```").next());
        let mut command = Command::new("sh");
        command
            .args([
                "-c",
                blocks.find(|block| block.contains("curl")).expect("a block with curl"),
            ])
            .current_dir(hub.scratch().path(""))
            .env("no_proxy", "*")
            .env("COUNTERSIGN_TOKEN", &agent.token);
        let ack = Process::spawn(command, "").finish().json();
        assert_eq!(ack["status"], status, "{ack}");
        let message = agent
            .get(ack["poll_url"].as_str().expect("a poll_url"))
            .await
            .expect(200);
        assert_eq!(message["agent"]["project"], "acme/shop");
    }
}

fn node(verb: &str, key: &str, owner: [&str; 2], input: &str) -> CommandOutput {
    let mut command = Command::new("node");
    command
        .arg(beside("page_seal.mjs"))
        .arg(verb)
        .args(owner)
        .env("SEAL_KEY", key);
    Process::spawn(command, input).finish()
}

fn ours(verb: &str, key: &str, owner: [&str; 2], input: &str) -> CommandOutput {
    let scratch = Scratch::new();
    let mut command = countersign(&scratch.home());
    command
        .args([verb, "--bind"])
        .args(owner)
        .env("COUNTERSIGN_SEAL_KEY", key);
    Process::spawn(command, input).finish()
}

#[test]
fn a_state_sealed_here_opens_with_another_implementation_and_the_other_way_round() {
    let key = "MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTI=";
    let state = r#"{"note":"é","step":3}"#;
    let owner = [AGENT, "ship-1.4"];
    let token = ours("seal", key, owner, state).ok();
    assert_eq!(node("open", key, owner, &token).ok().trim(), state);
    assert_ne!(
        node("open", key, [AGENT, "ship-1.5"], &token).code,
        0,
        "the key is bound"
    );
    let token = node("seal", key, owner, state).ok();
    assert_eq!(ours("open", key, owner, &token).ok().trim(), state);
}

/// The table of docs/a2h.md, row by row.
#[test]
fn the_documented_vector_opens_with_both_implementations() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/a2h.md");
    let docs = std::fs::read_to_string(docs).expect("docs/a2h.md");
    let row = |name: &str| {
        let line = docs.lines().find(|line| line.starts_with(&format!("| {name} | `")));
        let line = line.unwrap_or_else(|| panic!("a row {name}"));
        line.split('`').nth(1).expect("a value").to_owned()
    };
    let (agent, key, token) = (row("agent id"), row("idempotency key"), row("token"));
    let owner = [agent.as_str(), &key];
    for open in [ours, node] {
        assert_eq!(
            open("open", &row("key, hex"), owner, &token).ok().trim(),
            row("plaintext")
        );
    }
    assert_eq!(row("AAD"), format!("[\"{agent}\",\"{key}\"]"));
    assert_eq!(token.split('.').nth(1), Some(row("nonce, base64url").as_str()));
}
