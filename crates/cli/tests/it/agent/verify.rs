//! `countersign verify`: a genuine push, and every kind of forged one.

use super::{message_id, stage};
use crate::harness::*;

/// One real push and its URL.
struct Case {
    hub: Hub,
    bot: Agent,
    terminal: Terminal,
    push: Push,
    url: String,
    id: String,
}

impl Case {
    async fn new() -> Self {
        let (hub, bot, terminal) = stage().await;
        let receiver = Receiver::start().await;
        hub.approve(&bot, &receiver.host()).await;
        let url = receiver.url("/resume");
        let mut envelope = push_to(ask(&bot.id), &url);
        envelope["state"] = serde_json::json!({"commit": "4af1"});
        let id = bot.accepted(&envelope).await;
        hub.owner.answer(&id, "approve").await.expect(200);
        let push = receiver.at("/resume", 1).await.remove(0);
        let terminal = terminal.env("HOOK_KEY", &bot.signing_key);
        Self {
            hub,
            bot,
            terminal,
            push,
            url,
            id,
        }
    }

    fn header(&self) -> String {
        format!("A2H-Signature: {}", self.push.header("a2h-signature"))
    }

    /// The signature header of this push as of `seconds` from now.
    fn header_at(&self, seconds: i64) -> String {
        let t = jiff::Timestamp::now().as_second() + seconds;
        format!(
            "A2H-Signature: {}",
            sign(&self.push, &self.url, t, "jti_1", &self.bot.signing_key)
        )
    }

    fn verify(&self, url: &str, header: &str, body: &str) -> CommandOutput {
        let args = ["verify", "--url", url, "--header", header, "--key-env", "HOOK_KEY"];
        self.terminal.run_with_input(&args, body)
    }

    #[track_caller]
    fn refused(&self, ran: CommandOutput, reasons: &[&str]) {
        assert_eq!((ran.code, ran.stdout.as_str()), (20, ""), "{ran:?}");
        let output = ran.stderr.to_lowercase();
        assert!(
            reasons.iter().all(|reason| output.contains(reason)),
            "{reasons:?} expected: {ran:?}"
        );
        assert!(!ran.stderr.contains(&self.bot.signing_key), "no key in the reason");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_genuine_push_is_accepted() {
    let case = Case::new().await;
    let ran = case.verify(&case.url, &case.header(), &case.push.text());
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(message_id(&ran.stdout), case.id, "it tells what was answered: {ran:?}");
    for seconds in [-100, 100] {
        let ran = case.verify(&case.url, &case.header_at(seconds), &case.push.text());
        assert_eq!(ran.code, 0, "{seconds} s of skew: {ran:?}");
    }
    assert_eq!(case.hub.owner.get("/health").await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clock_that_is_more_than_two_minutes_off_is_refused() {
    let case = Case::new().await;
    for seconds in [-125, 130, -86_400, 86_400] {
        let ran = case.verify(&case.url, &case.header_at(seconds), &case.push.text());
        case.refused(ran, &["clock"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_push_to_another_url_is_refused() {
    let case = Case::new().await;
    for url in [
        case.url.replace("/resume", "/other"),
        format!("{}/", case.url),
        case.url.replace("127.0.0.1", "localhost"),
    ] {
        case.refused(
            case.verify(&url, &case.header(), &case.push.text()),
            &["signature", "url"],
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_push_signed_with_another_key_is_refused() {
    let mut case = Case::new().await;
    case.terminal = case.terminal.clone().env("HOOK_KEY", "whsec_MDEyMzQ1Njc4OWFiY2RlZg==");
    case.refused(
        case.verify(&case.url, &case.header(), &case.push.text()),
        &["signature", "key"],
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_value_or_state_is_refused() {
    let case = Case::new().await;
    for (from, to) in [
        ("\"approve\"", "\"deny\""),
        ("4af1", "4af2"),
        ("human:owner", "human:nobody"),
        ("\"resolution\":\"answered\"", "\"resolution\":\"declined\""),
        (&*case.id, "msg_00000000000000000000000000"),
    ] {
        let changed = case.push.text().replace(from, to);
        assert_ne!(changed, case.push.text(), "{from} is in the body");
        case.refused(case.verify(&case.url, &case.header(), &changed), &["signature"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unreadable_push_is_refused_with_a_reason() {
    let case = Case::new().await;
    let body = case.push.text();
    let sound = case.header();
    for (header, body) in [
        ("A2H-Signature: nonsense", body.as_str()),
        ("A2H-Signature: t=1,jti=x", &body),
        (&sound.replace("A2H-Signature", "MA2H-Signature"), &body),
        (&sound, "{"),
        (&sound, "[]"),
        (&sound, ""),
    ] {
        case.refused(case.verify(&case.url, header, body), &[]);
    }
}
