//! `skill build` and `smoke`: a built skill works against a real hub.

mod page;
mod plugin;

use serde_json::Value;

use crate::harness::*;

fn build(hub: &Hub, flags: &str) -> CommandOutput {
    build_for(hub, &hub.url, flags)
}

/// Builds a skill for the hub at `url` on the machine of `hub`.
fn build_for(hub: &Hub, url: &str, flags: &str) -> CommandOutput {
    let out = hub.scratch().path("out").display().to_string();
    let mut args = vec!["skill", "build"];
    args.extend(flags.split_whitespace());
    args.extend(["--app", "acme", "--hub", url, "--agent", "acme/bot", "--out", &out]);
    hub.cli(&args)
}

fn smoke(terminal: &Terminal, args: &[&str]) -> (i32, Value) {
    let ran = terminal.run(&[&["smoke", "--json"], args].concat());
    (
        ran.code,
        serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}")),
    )
}

fn failed_step(report: &Value) -> &Value {
    let failed = |step: &&Value| step["ok"] == false;
    report["steps"]
        .as_array()
        .and_then(|steps| steps.iter().find(failed))
        .expect("a failed step")
}

/// Asserts that the smoke test cleaned up its agents, approvals and messages.
async fn assert_cleaned_up(hub: &Hub) {
    let agents = hub.cli(&["agent", "list", "--json"]).json().to_string();
    assert!(!agents.contains("smoke-"), "{agents}");
    assert_eq!(
        hub.cli(&["agent", "callback", "list", "--json"]).json(),
        serde_json::json!([])
    );
    assert_eq!(hub.cli(&["inbox"]).ok(), "Nothing waits for you.\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_kind_of_built_skill_passes_the_smoke_test() {
    let hub = Setup::pushing().start().await;
    hub.person("ann", "resolver").await;
    let push = "--mode push --callback https://acme.example/resume --to human:ann --force";
    let pull = "--mode pull --to human:ann --force";
    for (kind, mode_flags) in [
        ("ask", push),
        ("ask", pull),
        ("task", push),
        ("task", pull),
        ("notify", ""),
    ] {
        build(&hub, &format!("{kind} {mode_flags}")).ok();
        let skill = hub.scratch().path("out").join(format!("acme-{kind}"));
        let (code, report) = smoke(&Terminal::local(&hub), &["--skill", &skill.display().to_string()]);
        assert_eq!(
            (code, &report["ok"]),
            (0, &Value::Bool(true)),
            "{kind} {mode_flags}: {report:#}"
        );
    }
    assert_cleaned_up(&hub).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_apps_own_credentials_are_checked_when_present() {
    let hub = Setup::pushing().start().await;
    hub.person("ann", "resolver").await;
    let agent = hub.agent("acme/bot").await;
    build(
        &hub,
        "ask --mode push --callback https://acme.example/resume --to human:ann --token-env ACME_TOKEN",
    )
    .ok();
    let skill = hub.scratch().path("out/acme-ask").display().to_string();
    let terminal = Terminal::local(&hub).env("ACME_TOKEN", &agent.token);
    let (code, report) = smoke(&terminal, &["--skill", &skill]);
    assert_eq!(
        (code, &failed_step(&report)["step"]),
        (1, &Value::from("page")),
        "no signing key: {report:#}"
    );
    let whole = terminal.clone().env("COUNTERSIGN_SIGNING_KEY", &agent.signing_key);
    assert_eq!(smoke(&whole, &["--skill", &skill]).0, 0);
    let wrong = terminal.env("COUNTERSIGN_SIGNING_KEY", "whsec_c29tZWJvZHkgZWxzZQ==");
    let (code, report) = smoke(&wrong, &["--skill", &skill]);
    assert_eq!(
        (code, &failed_step(&report)["step"]),
        (1, &Value::from("verify")),
        "{report:#}"
    );
    assert_cleaned_up(&hub).await;
}

/// Replaces text of the built ask page.
fn edit_page(hub: &Hub, from: &str, to: &str) {
    let path = hub.scratch().path("out/acme-ask/SKILL.md");
    let page = std::fs::read_to_string(&path).expect("a page");
    assert!(page.contains(from), "{from}: {page}");
    std::fs::write(&path, page.replacen(from, to, 1)).expect("a writable page");
}

const PUSH: &str = "ask --mode push --callback https://acme.example/resume --to human:ann --force";

#[tokio::test(flavor = "multi_thread")]
async fn a_push_skill_checks_with_the_algorithm_of_its_agent() {
    let hub = Setup::pushing().start().await;
    hub.person("ann", "resolver").await;
    let agent = hub.agent_signed_by("acme/bot", "ed25519").await;
    build(&hub, PUSH).ok();
    let skill = hub.scratch().path("out/acme-ask").display().to_string();
    let made = Terminal::local(&hub);
    let own = made.clone().env("COUNTERSIGN_TOKEN", &agent.token);
    for terminal in [&made, &own] {
        let (code, report) = smoke(terminal, &["--skill", &skill]);
        assert_eq!(code, 0, "{report:#}");
    }
    let stderr = build(&hub, &format!("{PUSH} --signature-alg hmac-sha256")).fails(1);
    assert!(stderr.contains("with ed25519"), "{stderr}");
    assert_cleaned_up(&hub).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_whose_own_lines_refuse_the_push_fails_the_smoke_test() {
    let hub = Setup::pushing().start().await;
    hub.person("ann", "resolver").await;
    let agent = hub.agent_signed_by("acme/bot", "ed25519").await;
    let skill = hub.scratch().path("out/acme-ask").display().to_string();
    let terminal = Terminal::local(&hub).env("COUNTERSIGN_SIGNING_KEY", &agent.signing_key);
    let own = terminal.clone().env("COUNTERSIGN_TOKEN", &agent.token);
    let ed25519 = "--url 'https://acme.example/resume' --ed25519 hub --exec";
    let hmac = "--url 'https://acme.example/resume' --key-env COUNTERSIGN_SIGNING_KEY --exec";
    let verify = (
        "$signature\" --ed25519 hub",
        "$signature\" --key-env COUNTERSIGN_SIGNING_KEY",
    );
    for (from, to, step) in [
        (ed25519, hmac, "act"),
        (verify.0, verify.1, "verify"),
        ("countersign receive ", "countersign-receive ", "receiver"),
        (" --callback 'https", " --callbak 'https", "submit"),
        (
            "countersign seal --key-env COUNTERSIGN_SEAL_KEY",
            "countersign seal --key-env NOT_SET",
            "seal",
        ),
        (
            "countersign open --key-env COUNTERSIGN_SEAL_KEY",
            "countersign open --key-env NOT_SET",
            "changed state",
        ),
        ("COUNTERSIGN_AGENT='acme/bot'", "COUNTERSIGN_AGENT='acme/other'", "page"),
    ] {
        build(&hub, PUSH).ok();
        edit_page(&hub, from, to);
        for terminal in [&terminal, &own] {
            let (code, report) = smoke(terminal, &["--skill", &skill]);
            let failed = &failed_step(&report)["step"];
            assert_eq!((code, failed), (1, &Value::from(step)), "{to}: {report:#}");
        }
    }
    assert_cleaned_up(&hub).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_callback_secret_and_identity_of_a_skill_is_used() {
    let hub = Setup::pushing().start().await;
    hub.person("ann", "resolver").await;
    let skill = hub.scratch().path("out/acme-ask").display().to_string();
    for flags in [
        "--callback-auth hmac=acme-hook",
        "--callback-auth hmac=acme-hook --signature-alg ed25519",
        "--callback-auth bearer=acme-hook --runtime cloud --project acme/shop",
        "--callback-auth apikey=env:ACME_HOOK --signature-alg ed25519",
    ] {
        build(&hub, &format!("{PUSH} {flags}")).ok();
        let (code, report) = smoke(&Terminal::local(&hub), &["--skill", &skill]);
        assert_eq!(code, 0, "{flags}: {report:#}");
    }
    assert_cleaned_up(&hub).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_sends_runtime_project_and_callback_secret() {
    let hub = Setup::pushing().start().await;
    let agent = hub.agent("bot").await;
    let receiver = Receiver::start().await;
    hub.approve(&agent, &receiver.host()).await;
    hub.cli_with_input(&["secret", "set", "bot", "hook"], "a-secret-of-the-hook")
        .ok();
    let url = receiver.url("/resume");
    let terminal = Terminal::remote(&hub, &hub.url, &agent);
    let args = [
        "ask",
        "Ship?",
        "--confirm",
        "--detach",
        "--runtime",
        "cloud",
        "--project",
        "shop",
    ];
    let id = terminal
        .run(&[&args[..], &["--callback", &url, "--callback-auth", "apikey=hook"]].concat())
        .ok();
    let message = agent.pull(id.trim()).await;
    assert_eq!(
        (&message["agent"]["runtime"], &message["agent"]["project"]),
        (&"cloud".into(), &"shop".into())
    );
    hub.owner.answer(id.trim(), "approve").await.expect(200);
    let push = receiver.at("/resume", 1).await.remove(0);
    assert_eq!(push.header("x-api-key"), "a-secret-of-the-hook");
}

#[tokio::test(flavor = "multi_thread")]
async fn smoke_needs_only_a_person_and_an_agent_token() {
    let hub = Hub::start().await;
    let agent = hub.agent("bot").await;
    let ann = hub.person("ann", "resolver").await;
    let terminal = Terminal::remote(&hub, &hub.url, &agent).without("COUNTERSIGN_TO");
    let (code, report) = smoke(&terminal, &[]);
    assert_eq!(
        (code, &failed_step(&report)["step"]),
        (1, &Value::from("person")),
        "{report:#}"
    );
    let terminal = terminal.env("COUNTERSIGN_PERSON_TOKEN", &ann.token);
    assert_eq!(smoke(&terminal, &["--mode", "pull", "--to", "human:ann"]).0, 0);
    let (code, report) = smoke(&terminal, &["--mode", "pull", "--to", "human:owner"]);
    assert_eq!(
        (code, &failed_step(&report)["step"]),
        (1, &Value::from("resolve")),
        "{report:#}"
    );
    assert_cleaned_up(&hub).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_are_not_sent_to_a_hub_that_only_the_skill_names() {
    let hub = Hub::start().await;
    let agent = hub.agent("acme/bot").await;
    let ann = hub.person("ann", "resolver").await;
    let other_hub = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    other_hub.set_nonblocking(true).expect("a nonblocking socket");
    let other_url = format!("http://{}", other_hub.local_addr().expect("an address"));
    build_for(
        &hub,
        &other_url,
        "ask --mode pull --to human:ann --token-env ACME_TOKEN",
    )
    .ok();
    let skill = hub.scratch().path("out/acme-ask").display().to_string();
    let local = Terminal::local(&hub);
    let remote = Terminal::remote(&hub, &hub.url, &agent).without("COUNTERSIGN_TO");
    for terminal in [local, remote.clone(), remote.clone().without("COUNTERSIGN_URL")] {
        let terminal = terminal
            .env("ACME_TOKEN", &agent.token)
            .env("COUNTERSIGN_PERSON_TOKEN", &ann.token);
        for args in [
            &["--skill", skill.as_str()][..],
            &["--skill", &skill, "--hub", &hub.url],
        ] {
            let (code, report) = smoke(&terminal, args);
            let step = failed_step(&report);
            assert_eq!((code, &step["step"]), (1, &Value::from("hub")), "{report:#}");
            assert!(
                step["message"]
                    .as_str()
                    .is_some_and(|text| text.contains("nothing was sent")),
                "{step}"
            );
        }
    }
    let no_call = other_hub.accept().expect_err("no connection to the other hub");
    assert_eq!(no_call.kind(), std::io::ErrorKind::WouldBlock);
    build(&hub, "ask --mode pull --to human:ann --token-env ACME_TOKEN --force").ok();
    let remote = remote
        .env("ACME_TOKEN", &agent.token)
        .env("COUNTERSIGN_PERSON_TOKEN", &ann.token);
    assert_eq!(smoke(&remote, &["--skill", &skill]).0, 0, "the hub of COUNTERSIGN_URL");
    let named = remote.without("COUNTERSIGN_URL");
    assert_eq!(smoke(&named, &["--skill", &skill]).0, 1);
    assert_eq!(
        smoke(&named, &["--skill", &skill, "--hub", &hub.url]).0,
        0,
        "the hub of --hub"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_push_test_explains_that_loopback_callbacks_are_off() {
    let hub = Hub::start().await;
    let (code, report) = smoke(&Terminal::local(&hub), &["--mode", "push"]);
    let step = failed_step(&report);
    assert_eq!((code, &step["step"]), (1, &Value::from("submit")));
    assert!(
        step["message"]
            .as_str()
            .is_some_and(|text| text.contains("--allow-loopback-callbacks")),
        "{step}"
    );
    assert_cleaned_up(&hub).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_skill_for_an_unknown_person_fails() {
    let hub = Hub::start().await;
    build(&hub, "ask --mode pull --to human:zoe").ok();
    let skill = hub.scratch().path("out/acme-ask").display().to_string();
    let (code, report) = smoke(&Terminal::local(&hub), &["--skill", &skill]);
    assert_eq!(
        (code, &failed_step(&report)["step"]),
        (1, &Value::from("person")),
        "{report:#}"
    );
    assert_cleaned_up(&hub).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn existing_files_are_kept_and_secrets_are_not_written() {
    let hub = Hub::start().await;
    let page = hub.scratch().path("out/skills/acme-ask/SKILL.md");
    build(&hub, "ask --mode pull --to human:ann --plugin").ok();
    let before = std::fs::read_to_string(&page).expect("a page");
    let stderr = build(&hub, "ask --mode pull --to human:bob --plugin").fails(1);
    assert!(stderr.contains("--force") && stderr.contains("acme-ask"), "{stderr}");
    assert_eq!(std::fs::read_to_string(&page).expect("a page"), before);
    build(&hub, "notify --plugin").ok();
    for file in [".claude-plugin/plugin.json", ".claude-plugin/marketplace.json"] {
        let text = std::fs::read_to_string(hub.scratch().path("out").join(file)).expect("a manifest");
        serde_json::from_str::<Value>(&text).expect("JSON");
    }
    let secret = "csa_0123456789abcdef";
    let stderr = build(&hub, &format!("task --mode pull --to human:ann --token-env {secret}")).fails(1);
    assert!(!stderr.contains(secret), "{stderr}");
    assert!(!hub.scratch().path("out/acme-task").exists());
    let with_key = "task --mode push --to human:ann --callback https://acme.example/resume?key=s3cr3t";
    let stderr = build(&hub, with_key).fails(1);
    assert!(stderr.contains("--callback") && !stderr.contains("s3cr3t"), "{stderr}");
    let stderr = build_for(&hub, "http://hub.example", "task --mode pull --to human:ann").fails(1);
    assert!(stderr.contains("use https"), "{stderr}");
    assert!(!hub.scratch().path("out/acme-task").exists());
    let stderr = build(&hub, "task").fails(1);
    assert!(stderr.contains("missing: --mode push|pull "), "{stderr}");
}
