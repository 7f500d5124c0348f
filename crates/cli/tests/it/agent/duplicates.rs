//! Pushes arrive at least once, in any order, and may be replayed. The command behind them runs once.

use reqwest::Method;
use tokio::task::JoinSet;

use super::action_log::{ActionLog, exec};
use super::receive::address;
use super::stage;
use crate::harness::*;

/// Recorded pushes of several answers, each in several copies with their own signatures, to replay to a receiver.
struct RecordedPushes {
    hub: Hub,
    terminal: Terminal,
    url: String,
    action_log: ActionLog,
    signing_key: String,
    /// The copies by message, in the order they were sent.
    pushes: Vec<(String, Vec<Push>)>,
}

const COPIES: usize = 3;

impl RecordedPushes {
    async fn collect(messages: usize) -> Self {
        let (hub, bot, terminal) = stage().await;
        let terminal = terminal.env("COUNTERSIGN_SIGNING_KEY", &bot.signing_key);
        let recorder = Receiver::start().await;
        hub.approve(&bot, &recorder.host()).await;
        let mut pushes = vec![];
        for nth in 0..messages {
            recorder.script(
                "/resume",
                &[PushReply::Status(500), PushReply::Status(503), PushReply::Status(200)],
            );
            let id = bot.accepted(&push_to(ask(&bot.id), &recorder.url("/resume"))).await;
            hub.owner.answer(&id, "approve").await.expect(200);
            hub.delivery(&id, "delivered").await;
            let all = recorder.at("/resume", COPIES * (nth + 1)).await;
            pushes.push((id, all[COPIES * nth..].to_vec()));
        }
        let action_log = ActionLog::new(&hub);
        Self {
            hub,
            terminal,
            url: recorder.url("/resume"),
            action_log,
            signing_key: bot.signing_key,
            pushes,
        }
    }

    async fn receiver(&self) -> (Process, Api) {
        let args = [
            "receive",
            "--listen",
            "127.0.0.1:0",
            "--url",
            &self.url,
            "--path",
            "/resume",
        ];
        let process = self.terminal.start(&exec(&args, &self.action_log.command()));
        let api = Api::anonymous(&address(&process).await);
        (process, api)
    }

    fn copy(&self, message: usize, nth: usize) -> &Push {
        &self.pushes[message].1[nth]
    }
}

async fn replay(api: &Api, push: &Push) -> u16 {
    let mut request = api.request(Method::POST, "/resume").body(push.body.clone());
    for (name, value) in &push.headers {
        if !["host", "content-length", "connection"].contains(&name.as_str()) {
            request = request.header(name, value);
        }
    }
    Api::send(request).await.status
}

#[tokio::test(flavor = "multi_thread")]
async fn duplicate_and_reordered_pushes_run_the_command_once() {
    let recorded = RecordedPushes::collect(3).await;
    let (mut receiver, api) = recorded.receiver().await;
    for (message, nth) in [(2, 1), (0, 2), (2, 0), (0, 2), (1, 0), (2, 1), (0, 0), (1, 0), (1, 2)] {
        assert_eq!(
            replay(&api, recorded.copy(message, nth)).await,
            200,
            "copy {nth} of message {message}"
        );
    }
    let expected = [2, 0, 1].map(|message: usize| recorded.pushes[message].0.clone());
    assert_eq!(recorded.action_log.ids(), expected);

    receiver.kill();
    let (_receiver, api) = recorded.receiver().await;
    for (message, nth) in [(0, 1), (1, 1), (2, 2), (0, 2), (1, 0), (2, 1)] {
        assert_eq!(
            replay(&api, recorded.copy(message, nth)).await,
            200,
            "after kill -9, copy {nth} of message {message}"
        );
    }
    assert_eq!(
        recorded.action_log.ids(),
        expected,
        "what was done is known after kill -9"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_duplicates_run_the_command_once() {
    let recorded = RecordedPushes::collect(2).await;
    let (_receiver, api) = recorded.receiver().await;
    let mut senders = JoinSet::new();
    for nth in 0..24 {
        let api = api.clone();
        let push = recorded.copy(nth % 2, nth % COPIES).clone();
        senders.spawn(async move { replay(&api, &push).await });
    }
    let statuses = within("all replies", senders.join_all()).await;
    assert!(statuses.contains(&200), "{statuses:?}");
    for message in 0..2 {
        assert_eq!(replay(&api, recorded.copy(message, 0)).await, 200);
    }
    let mut done = recorded.action_log.ids();
    let mut ids = recorded.pushes.iter().map(|(id, _)| id.clone()).collect::<Vec<_>>();
    done.sort();
    ids.sort();
    assert_eq!(done, ids);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_receivers_on_one_journal_run_the_command_once() {
    let recorded = RecordedPushes::collect(1).await;
    let (_one, first) = recorded.receiver().await;
    let (_two, second) = recorded.receiver().await;
    let mut senders = JoinSet::new();
    for nth in 0..12 {
        let api = if nth % 2 == 0 { &first } else { &second }.clone();
        let push = recorded.copy(0, nth % COPIES).clone();
        senders.spawn(async move { replay(&api, &push).await });
    }
    within("all replies", senders.join_all()).await;
    assert_eq!(replay(&second, recorded.copy(0, 1)).await, 200);
    assert_eq!(recorded.action_log.ids(), [recorded.pushes[0].0.clone()]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tampered_push_is_refused_and_nothing_runs() {
    let recorded = RecordedPushes::collect(1).await;
    let (receiver, api) = recorded.receiver().await;
    let sound = recorded.copy(0, 0);
    let mut changed = sound.clone();
    changed.body = sound.text().replace("\"approve\"", "\"deny\"").into_bytes();
    assert_ne!(changed.body, sound.body);
    assert_eq!(replay(&api, &changed).await, 401);
    assert!(
        receiver.stderr_with("signature").await.contains("refused"),
        "{}",
        receiver.output()
    );
    assert_eq!(recorded.action_log.done().len(), 0);
    assert_eq!(replay(&api, sound).await, 200, "a forgery does not use up the real one");
    assert_eq!(recorded.action_log.ids(), [recorded.pushes[0].0.clone()]);
    assert_eq!(recorded.hub.owner.get("/health").await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_push_outside_the_time_window_is_refused_and_nothing_runs() {
    let recorded = RecordedPushes::collect(1).await;
    let (_receiver, api) = recorded.receiver().await;
    let at = |seconds: i64| {
        let mut push = recorded.copy(0, 0).clone();
        let t = jiff::Timestamp::now().as_second() + seconds;
        let header = sign(
            &push,
            &recorded.url,
            t,
            &format!("jti_{seconds}"),
            &recorded.signing_key,
        );
        push.headers.insert("a2h-signature".to_owned(), header);
        push
    };
    for seconds in [-125, 130, -86_400] {
        assert_eq!(replay(&api, &at(seconds)).await, 401, "{seconds} s");
    }
    assert_eq!(recorded.action_log.done().len(), 0);
    assert_eq!(replay(&api, &at(-100)).await, 200);
    assert_eq!(recorded.action_log.done().len(), 1);
}
