//! Replay of missed events: no gap, no duplicate, in order.

use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::stage::*;
use crate::harness::*;

/// Four events per round plus start and end: just below the 10 000 events that the replay buffer keeps.
const ROUNDS: u64 = 2499;

fn many(rounds: u64) -> Value {
    cycle(json!({"worker": echo()}), &["worker"], json!({"cycles": rounds}))
}

/// Three people in sequence, each followed by an agent.
fn three_people() -> Value {
    let agents = json!({"a": person(), "b": person(), "c": person(), "echo": echo()});
    sequence(agents, &["a", "echo", "b", "echo", "c", "echo"])
}

async fn answer_all(client: &mut Client, run: &str) {
    for agent in ["a", "b", "c"] {
        client.next_question().await;
        client.answer(run, agent, agent).await;
    }
    client.result().await;
}

/// The watcher disconnects after every possible event and resumes from its last seq.
#[tokio::test(flavor = "multi_thread")]
async fn a_watcher_that_disconnects_at_any_event_misses_nothing() {
    let hub = Hub::start().await;
    let mut driver = Client::connect(&hub).await;
    let path = strategy_file(&hub, &three_people());
    let mut cut = 0;
    loop {
        let run = driver.prepare(&path).await;
        let mut watcher = Client::connect(&hub).await;
        watcher.subscribe(&run).await;
        watcher.expect_silence().await;
        driver.start(&run, "").await;
        let mut union = vec![];
        let mut client = Some(watcher);
        for agent in ["a", "b", "c", ""] {
            while let Some(watcher) = &mut client {
                if union.len() == cut {
                    client = None;
                    continue;
                }
                let event = watcher.next().await;
                let is_stop = event["type"] == "request_input" || event["type"] == "strategy_completed";
                union.push(event);
                if is_stop {
                    break;
                }
            }
            if agent.is_empty() {
                driver.result().await;
            } else {
                driver.next_question().await;
                driver.answer(&run, agent, agent).await;
            }
        }
        let is_last = client.is_some();
        drop(client);
        let mut back = Client::connect(&hub).await;
        back.subscribe_after(&run, union.last().map_or(0, seq)).await;
        union.extend(back.frames_so_far().await);
        let expected: Vec<u64> = (1..=union.len() as u64).collect();
        assert_eq!(seqs(&union), expected, "cut at {cut}");
        let mut whole = Client::connect(&hub).await;
        whole.subscribe_after(&run, 0).await;
        assert_eq!(seqs(&whole.frames_so_far().await), expected, "cut at {cut}");
        if is_last {
            return assert!(cut > 20, "every event was a cut: {cut}");
        }
        cut += 1;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_events_are_replayed_from_any_seq_even_after_a_restart() {
    let mut hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.prepare(&strategy_file(&hub, &many(ROUNDS))).await;
    client
        .send(json!({"type": "start_run", "runId": run, "input": "x", "requestId": "s"}))
        .await;
    let events = client.until("strategy_completed").await;
    let last = ROUNDS * 4 + 2;
    assert_eq!(seqs(&events), (1..=last).collect::<Vec<_>>());
    client.subscribe_after(&run, 0).await;
    let log = client.raw_frames_so_far().await;
    let first: Vec<Value> = log
        .iter()
        .map(|text| serde_json::from_str(text).expect("JSON"))
        .collect();
    assert_eq!(first, events, "the replay is identical");
    for cut in (0..=last)
        .step_by(333)
        .chain([1, 2, 3, last - 1, last, last + 1, u64::from(u32::MAX)])
    {
        client.subscribe_after(&run, cut).await;
        assert_eq!(
            client.raw_frames_so_far().await,
            log[cut.min(last) as usize..],
            "cut at {cut}"
        );
    }
    hub.kill();
    hub.restart().await;
    let mut client = Client::connect(&hub).await;
    for cut in (0..=last).step_by(999).chain([1, last - 1, last]) {
        client.subscribe_after(&run, cut).await;
        assert_eq!(
            client.raw_frames_so_far().await,
            log[cut as usize..],
            "cut at {cut} after a restart"
        );
    }
}

/// Watchers reconnect at full speed, to test the seam between replay and live events.
#[tokio::test(flavor = "multi_thread")]
async fn reconnecting_watchers_see_every_event_once() {
    let hub = Hub::start().await;
    let mut driver = Client::connect(&hub).await;
    let run = driver.prepare(&strategy_file(&hub, &many(1500))).await;
    let mut watchers = JoinSet::new();
    for nth in 1..=6_usize {
        let mut client = Client::connect(&hub).await;
        let dial = hub.url.clone();
        let run = run.clone();
        client.subscribe(&run).await;
        client.expect_silence().await;
        watchers.spawn(async move {
            let mut union: Vec<u64> = vec![];
            loop {
                // Each watcher disconnects at different, irregular positions.
                for _ in 0..nth * 37 + union.len() % 11 {
                    let event = client.next().await;
                    union.push(seq(&event));
                    if event["type"] == "strategy_completed" {
                        return union;
                    }
                }
                drop(client);
                client = Dial::at(dial.trim_start_matches("http://")).open().await;
                client.subscribe_after(&run, *union.last().expect("an event")).await;
            }
        });
    }
    driver.start(&run, "x").await;
    let log = driver.until("strategy_completed").await;
    let expected: Vec<u64> = (1..=log.len() as u64 + 1).collect();
    for union in within("every watcher", watchers.join_all()).await {
        assert_eq!(union, expected);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn replay_marks_resolved_asks_and_sends_a_pending_ask_once() {
    let hub = Hub::start().await;
    let mut driver = Client::connect(&hub).await;
    let run = driver.start_strategy(&hub, &three_people(), "").await;
    let first = driver.next_question().await;
    driver.answer(&run, "a", "a").await;
    let second = driver.next_question().await;
    let mut late = Client::connect(&hub).await;
    late.subscribe_after(&run, 0).await;
    let replayed = late.frames_so_far().await;
    let asks = replayed.of_kind("request_input");
    assert_eq!(asks.len(), 2, "{replayed:#?}");
    assert_eq!(
        (&asks[0]["resolved"], &without(asks[0], "resolved")),
        (&json!(true), &first)
    );
    assert_eq!(asks[1], &second, "unchanged");
    late.subscribe(&run).await;
    late.expect_silence().await;
    late.subscribe_after(&run, seq(&second)).await;
    assert_eq!(
        late.frames_so_far().await,
        std::slice::from_ref(&second),
        "a client that names a seq may have lost the question"
    );
    let mut plain = Client::connect(&hub).await;
    plain.subscribe(&run).await;
    assert_eq!(
        plain.frames_so_far().await,
        [second],
        "without afterSeq only the pending question"
    );
    driver.answer(&run, "b", "b").await;
    driver.next_question().await;
    driver.answer(&run, "c", "c").await;
    driver.result().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_watcher_behind_the_replay_buffer_gets_an_error_and_is_subscribed() {
    let mut hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.start_strategy(&hub, &many(3000), "x").await;
    let last = seq(client.until("strategy_completed").await.last().expect("the end"));
    for _ in 0..2 {
        let mut late = Client::connect(&hub).await;
        late.send(json!({"type": "subscribe", "runId": run, "afterSeq": 1, "requestId": "s"}))
            .await;
        let error = late.expect("error").await;
        assert_eq!(
            (&error["code"], &error["requestId"]),
            (&json!("REPLAY_TRUNCATED"), &json!("s")),
            "{error}"
        );
        let replayed = late.frames_so_far().await;
        let first = seq(&replayed[0]);
        assert!(
            error["message"].as_str().unwrap().contains(&first.to_string()),
            "{error}, first {first}"
        );
        assert_eq!(seqs(&replayed), (first..=last).collect::<Vec<_>>());
        assert!(
            (10_000..11_100).contains(&replayed.len()),
            "{} events are kept",
            replayed.len()
        );
        late.subscribe_after(&run, first - 1).await;
        assert_eq!(
            seqs(&late.frames_so_far().await),
            (first..=last).collect::<Vec<_>>(),
            "starting at the oldest kept event is no gap"
        );
        hub.kill();
        hub.restart().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_continues_with_live_events() {
    let hub = Hub::start().await;
    let mut driver = Client::connect(&hub).await;
    let run = driver.start_strategy(&hub, &three_people(), "").await;
    driver.next_question().await;
    let mut late = Client::connect(&hub).await;
    late.subscribe_after(&run, 0).await;
    let mut replayed = late.frames_so_far().await;
    driver.answer(&run, "a", "a").await;
    for agent in ["b", "c"] {
        driver.next_question().await;
        driver.answer(&run, agent, agent).await;
    }
    driver.result().await;
    replayed.extend(late.until("strategy_completed").await);
    assert_eq!(seqs(&replayed), (1..=replayed.len() as u64).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread")]
async fn seqs_continue_across_segments_and_restarts() {
    let mut hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.start_strategy(&hub, &three_people(), "").await;
    answer_all(&mut client, &run).await;
    hub.kill();
    hub.restart().await;
    let mut client = Client::connect(&hub).await;
    client.continue_run(&run, "").await;
    answer_all(&mut client, &run).await;
    client.subscribe_after(&run, 0).await;
    let replayed = client.frames_so_far().await;
    assert_eq!(seqs(&replayed), (1..=replayed.len() as u64).collect::<Vec<_>>());
    assert_eq!(replayed.of_kind("strategy_started").len(), 2);
    assert!(
        replayed
            .of_kind("request_input")
            .iter()
            .all(|ask| ask["resolved"] == true)
    );
}
