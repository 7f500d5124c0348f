use std::path::PathBuf;

use countersign_protocol::a2h::{Family, Kind};
use countersign_protocol::time::Timestamp;
use serde_json::json;
use tokio::time::Instant;
use uuid::Uuid;

use super::scene::{Scene, ScriptedReply};
use super::*;
use crate::draft::{Ask, Draft};
use crate::identity::Identity;
use crate::journal::Journal;
use crate::outcome::Outcome;
use crate::ticket::Ticket;

struct TempJournal {
    path: PathBuf,
    journal: Journal,
}

impl TempJournal {
    fn new() -> Self {
        let path = std::env::temp_dir().join(format!("countersign-agent-{}", Uuid::new_v4()));
        std::fs::create_dir(&path).unwrap();
        Self {
            journal: Journal::open(&path.join("journal.db")).unwrap(),
            path,
        }
    }
}

impl Drop for TempJournal {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

fn draft_at(title: &str, millis: i64) -> Draft {
    let version = Version {
        family: Family::A2h,
        minor: 3,
    };
    let ask = Ask::confirm(title).key("ship-1.4").to(["human:ann"]);
    ask.draft(&Identity::new("deploybot"), version, Timestamp::from_millis(millis))
        .unwrap()
}

fn ack(url: &Url) -> ScriptedReply {
    ScriptedReply::Reply(
        202,
        json!({"id": "msg_1", "status": "open", "poll_url": format!("{url}poll/msg_1?sig=a%2Fb")}),
    )
}

fn problem(status: u16, code: &str) -> ScriptedReply {
    ScriptedReply::Reply(status, json!({"error": {"code": code, "message": "no"}}))
}

fn open() -> ScriptedReply {
    ScriptedReply::Reply(200, json!({"id": "msg_1", "status": "open"}))
}

fn ended(resolution: &str) -> ScriptedReply {
    let inner = json!({"actor": "human:ann", "resolved_at": "2026-06-04T15:48:30Z", "value": "approve"});
    let response = json!({
        "a2h_version": "0.3", "in_reply_to": "msg_1", "resolution_id": "res_1", "resolution": resolution,
        "response": inner, "state": {"step": 3},
    });
    ScriptedReply::Reply(200, json!({"id": "msg_1", "status": resolution, "response": response}))
}

fn ticket(scene: &Scene) -> Ticket {
    Ticket {
        idempotency_key: "ship-1.4".to_owned(),
        agent_id: "deploybot".to_owned(),
        message_id: Some("msg_1".to_owned()),
        poll_url: Some(format!("{}poll/msg_1?sig=a%2Fb", scene.url)),
        review_url: None,
        notice: None,
        kind: Kind::Ask,
    }
}

fn outcome(progress: Progress) -> Outcome {
    match progress {
        Progress::Ended(resolved) => resolved.outcome,
        other => panic!("expected an end, got {other:?}"),
    }
}

fn soon(millis: u64) -> WaitUntil {
    WaitUntil::Deadline(Instant::now() + Duration::from_millis(millis))
}

#[test]
fn the_token_is_not_shown_and_must_fit_a_header() {
    let url = Url::parse("https://hub.example/base/").unwrap();
    let hub = Client::new(url.clone(), "csa_secret".to_owned()).unwrap();
    assert!(!format!("{hub:?}").contains("csa_secret"));
    assert_eq!(
        hub.address(&["v1", "../x?y"]).as_str(),
        "https://hub.example/base/v1/..%2Fx%3Fy"
    );
    for token in ["", "two\nlines"] {
        assert!(matches!(
            Client::new(url.clone(), token.to_owned()),
            Err(Error::Invalid { .. })
        ));
    }
    for url in ["file:///etc/passwd", "https://ann:secret@hub.example"] {
        let hub = Client::new(Url::parse(url).unwrap(), "t".to_owned());
        assert!(matches!(hub, Err(Error::Invalid { .. })), "{url}");
    }
}

#[test]
fn calls_can_run_on_any_thread() {
    fn sent(_: impl Send) {}
    let hub = Client::new(Url::parse("http://127.0.0.1:1").unwrap(), "t".to_owned()).unwrap();
    let kept = TempJournal::new();
    let draft = draft_at("Ship?", 0);
    sent(hub.submit(&kept.journal, &draft));
    sent(hub.version());
    sent(hub.public_keys());
    let ticket = Ticket {
        idempotency_key: "k".to_owned(),
        agent_id: "a".to_owned(),
        message_id: None,
        poll_url: None,
        review_url: None,
        notice: None,
        kind: Kind::Ask,
    };
    sent(hub.resend(&kept.journal, &ticket));
    sent(hub.wait(&ticket, WaitUntil::Ended));
    sent(hub.cancel(&ticket));
}

#[test]
fn the_token_never_goes_over_plain_http_to_a_tls_hub() {
    let hub = Client::new(Url::parse("https://hub.example").unwrap(), "t".to_owned()).unwrap();
    assert!(hub.poll_address("https://other.example/v1/messages/1").is_ok());
    for url in [
        "http://hub.example/v1/messages/1",
        "ftp://hub.example/1",
        "https://a@hub.example/1",
        "nonsense",
        &"x".repeat(5000),
    ] {
        assert!(
            matches!(hub.poll_address(url), Err(Error::UnexpectedResponse(_))),
            "{url}"
        );
    }
}

#[tokio::test]
async fn a_message_is_repeated_byte_for_byte_until_it_is_accepted() {
    let script = |url: &Url| {
        vec![
            ScriptedReply::Vanish,
            problem(503, "unavailable"),
            problem(429, "rate_limited"),
            ack(url),
        ]
    };
    let scene = Scene::play(script).await;
    let kept = TempJournal::new();
    let draft = draft_at("Ship?", 0);
    let sent = scene.client().submit(&kept.journal, &draft).await.unwrap();
    assert_eq!(sent, ticket(&scene));
    let bodies: Vec<String> = scene
        .requests()
        .iter()
        .map(|request| request.split_once("\r\n\r\n").unwrap().1.to_owned())
        .collect();
    assert_eq!(bodies, vec![String::from_utf8(draft.bytes().to_vec()).unwrap(); 4]);
    assert!(
        scene.requests()[0]
            .to_lowercase()
            .contains("authorization: bearer csa_secret")
    );
    assert_eq!(kept.journal.ticket("msg_1").unwrap(), Some(sent));
}

#[tokio::test]
async fn an_unaccepted_message_stays_in_the_journal_and_can_be_resent() {
    let scene = Scene::play(|url| vec![ScriptedReply::Vanish, ack(url)]).await;
    let kept = TempJournal::new();
    let impatient = scene.client().giving_up_after(Duration::ZERO);
    let draft = draft_at("Ship?", 0);
    assert!(matches!(
        impatient.submit(&kept.journal, &draft).await,
        Err(Error::Unreachable(_))
    ));
    let waiting = kept.journal.ticket("ship-1.4").unwrap().unwrap();
    assert_eq!((waiting.message_id.as_ref(), waiting.kind), (None, Kind::Ask));
    assert!(matches!(impatient.look(&waiting).await, Err(Error::Invalid { .. })));
    assert_eq!(impatient.resend(&kept.journal, &waiting).await.unwrap(), ticket(&scene));
    let requests = scene.requests();
    assert_eq!(requests[0], requests[1]);
}

#[tokio::test]
async fn the_first_message_under_a_key_wins() {
    let scene = Scene::play(|url| vec![ack(url)]).await;
    let kept = TempJournal::new();
    let hub = scene.client();
    hub.submit(&kept.journal, &draft_at("Ship?", 0)).await.unwrap();
    hub.submit(&kept.journal, &draft_at("Ship?", 60_000)).await.unwrap();
    let other = hub.submit(&kept.journal, &draft_at("Drop the database?", 0)).await;
    assert!(matches!(other, Err(Error::Conflict)));
    let requests = scene.requests();
    assert_eq!((requests.len(), &requests[0]), (2, &requests[1]));
    let foreign = Ticket {
        idempotency_key: "other".to_owned(),
        ..ticket(&scene)
    };
    assert!(matches!(
        hub.resend(&kept.journal, &foreign).await,
        Err(Error::Invalid { .. })
    ));
}

#[tokio::test]
async fn a_refusal_is_final() {
    for (status, code) in [
        (400, "validation_error"),
        (401, "unauthenticated"),
        (403, "x"),
        (422, "invalid_field"),
    ] {
        let scene = Scene::play(|_| vec![problem(status, code)]).await;
        let kept = TempJournal::new();
        let refused = scene.client().submit(&kept.journal, &draft_at("Ship?", 0)).await;
        assert!(matches!(refused, Err(Error::Refused { status: found, .. }) if found == status));
        assert_eq!(scene.requests().len(), 1);
        // After a refused credential the draft stays: the hub may have accepted the same bytes earlier.
        let is_permanent_refusal = matches!(status, 400 | 422);
        assert_eq!(
            kept.journal.ticket("ship-1.4").unwrap().is_none(),
            is_permanent_refusal,
            "{status}"
        );
    }
    let scene = Scene::play(|_| vec![problem(409, "idempotency_conflict")]).await;
    let kept = TempJournal::new();
    assert!(matches!(
        scene.client().submit(&kept.journal, &draft_at("Ship?", 0)).await,
        Err(Error::Conflict)
    ));
}

#[tokio::test]
async fn a_refused_message_frees_its_key() {
    let script = |url: &Url| vec![problem(422, "invalid_field"), ack(url)];
    let scene = Scene::play(script).await;
    let kept = TempJournal::new();
    assert!(
        scene
            .client()
            .submit(&kept.journal, &draft_at("Ship?", 0))
            .await
            .is_err()
    );
    scene
        .client()
        .submit(&kept.journal, &draft_at("Ship it?", 0))
        .await
        .unwrap();
}

#[tokio::test]
async fn waiting_survives_a_hub_outage() {
    let script = |_: &Url| {
        vec![
            ScriptedReply::Vanish,
            open(),
            problem(502, "x"),
            problem(429, "x"),
            open(),
            ended("answered"),
        ]
    };
    let scene = Scene::play(script).await;
    let progress = scene.client().wait(&ticket(&scene), WaitUntil::Ended).await.unwrap();
    assert!(matches!(outcome(progress), Outcome::Answered { .. }));
    assert_eq!(scene.lines(), ["GET /poll/msg_1?sig=a%2Fb&wait=60 HTTP/1.1"; 6]);
}

#[tokio::test]
async fn a_look_uses_the_poll_address_unchanged() {
    let scene = Scene::play(|_| vec![open(), ended("declined"), problem(503, "unavailable")]).await;
    let hub = scene.client();
    assert!(matches!(hub.look(&ticket(&scene)).await, Ok(Progress::Open)));
    match hub.look(&ticket(&scene)).await.unwrap() {
        Progress::Ended(resolved) => {
            assert_eq!(resolved.act_key(), ("msg_1", "res_1"));
            assert_eq!(resolved.state.unwrap().get(), r#"{"step":3}"#);
        }
        other => panic!("{other:?}"),
    }
    assert!(matches!(
        hub.look(&ticket(&scene)).await,
        Err(Error::Refused { status: 503, .. })
    ));
    assert_eq!(scene.lines(), ["GET /poll/msg_1?sig=a%2Fb HTTP/1.1"; 3]);
}

#[tokio::test]
async fn a_permanent_error_ends_the_wait() {
    for (status, code) in [(401, "unauthenticated"), (404, "not_found"), (410, "gone")] {
        let scene = Scene::play(|_| vec![problem(status, code)]).await;
        let ended = scene
            .client()
            .wait(&ticket(&scene), WaitUntil::Ended)
            .await
            .unwrap_err();
        let expected = match status {
            404 => matches!(ended, Error::NotFound),
            410 => matches!(ended, Error::Gone),
            _ => matches!(ended, Error::Refused { .. }),
        };
        assert!(expected, "{status}: {ended}");
        assert_eq!(scene.requests().len(), 1);
    }
    let elsewhere = Scene::play(|_| vec![ScriptedReply::Reply(200, json!({"id": "msg_2", "status": "open"}))]).await;
    let strange = elsewhere.client().wait(&ticket(&elsewhere), WaitUntil::Ended).await;
    assert!(matches!(strange, Err(Error::UnexpectedResponse(_))));
}

#[tokio::test]
async fn a_deadline_ends_the_wait_with_the_last_known_progress() {
    let scene = Scene::play(|_| vec![open()]).await;
    assert!(matches!(
        scene.client().wait(&ticket(&scene), soon(0)).await,
        Ok(Progress::Open)
    ));
    assert!(matches!(
        scene.client().wait(&ticket(&scene), soon(50)).await,
        Ok(Progress::Open)
    ));
    let silent = Scene::play(|_| vec![open(), ScriptedReply::Vanish]).await;
    assert!(matches!(
        silent.client().wait(&ticket(&silent), soon(1050)).await,
        Ok(Progress::Open)
    ));
    let never = Scene::play(|_| vec![ScriptedReply::Vanish]).await;
    assert!(matches!(
        never.client().wait(&ticket(&never), soon(20)).await,
        Err(Error::Unreachable(_))
    ));
    let hanging = Scene::play(|_| vec![ScriptedReply::Hang, ended("answered")]).await;
    let late = hanging.client().wait(&ticket(&hanging), soon(1010)).await.unwrap();
    assert!(matches!(outcome(late), Outcome::Answered { .. }));
}

#[tokio::test]
async fn a_silent_hub_is_given_up_after_the_timeout() {
    let scene = Scene::play(|_| vec![ScriptedReply::Vanish]).await;
    let hub = scene.client().giving_up_after(Duration::from_millis(20));
    assert!(matches!(
        hub.wait(&ticket(&scene), WaitUntil::Ended).await,
        Err(Error::Unreachable(_))
    ));
    assert!(matches!(hub.cancel(&ticket(&scene)).await, Err(Error::Unreachable(_))));
}

#[tokio::test]
async fn cancelling_returns_the_actual_outcome() {
    let cancelled = ScriptedReply::Reply(200, json!({"id": "msg_1", "status": "cancelled"}));
    let scene = Scene::play(|_| vec![ScriptedReply::Vanish, cancelled, problem(503, "x"), ended("cancelled")]).await;
    assert_eq!(
        outcome(scene.client().cancel(&ticket(&scene)).await.unwrap()),
        Outcome::Cancelled
    );
    assert_eq!(scene.lines()[1], "POST /v1/messages/msg_1/cancel HTTP/1.1");
    let late = Scene::play(|_| vec![problem(409, "already_terminal"), ended("answered")]).await;
    assert!(matches!(
        outcome(late.client().cancel(&ticket(&late)).await.unwrap()),
        Outcome::Answered { .. }
    ));
    for (status, code) in [(400, "validation_error"), (404, "not_found"), (410, "gone")] {
        let refusing = Scene::play(|_| vec![problem(status, code)]).await;
        assert!(refusing.client().cancel(&ticket(&refusing)).await.is_err());
    }
}

#[tokio::test]
async fn the_version_is_fetched_once_and_the_keys_every_time() {
    let document = || ScriptedReply::Reply(200, json!({"ma2h_version": "0.6", "signature_keys": []}));
    let script = |_: &Url| vec![problem(404, "x"), document(), problem(404, "x"), document()];
    let scene = Scene::play(script).await;
    let hub = scene.client();
    let spoken = Version {
        family: Family::Ma2h,
        minor: 6,
    };
    assert_eq!(
        (hub.version().await.unwrap(), hub.clone().version().await.unwrap()),
        (spoken, spoken)
    );
    assert!(hub.public_keys().await.unwrap().is_empty());
    let names = ["GET /.well-known/a2h HTTP/1.1", "GET /.well-known/ma2h HTTP/1.1"];
    assert_eq!(scene.lines(), [names, names].concat());
    let stranger = Scene::play(|_| vec![ScriptedReply::Reply(200, json!("hello"))]).await;
    assert!(matches!(
        stranger.client().version().await,
        Err(Error::UnexpectedResponse(_))
    ));
}
