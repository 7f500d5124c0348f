//! Slow subscribers do not affect the run or other subscribers.

use serde_json::{Value, json};

use super::stage::*;
use crate::harness::*;

/// `ROUNDS` times `WIDTH` bytes exceed the kernel buffers and one connection's queue together.
const ROUNDS: usize = 100;
const WIDTH: usize = 100_000;

fn wide() -> Value {
    cycle(json!({"worker": echo()}), &["worker"], json!({"cycles": ROUNDS}))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_subscriber_that_stops_reading_is_dropped_and_the_run_continues() {
    let hub = Hub::start().await;
    let mut reader = Client::connect(&hub).await;
    let run = reader.prepare(&strategy_file(&hub, &wide())).await;
    let mut slow = Dial::to(&hub).receive_buffer(4096).open().await;
    slow.subscribe(&run).await;
    slow.expect_silence().await;
    reader.start(&run, &"x".repeat(WIDTH)).await;
    let events = reader.until("strategy_completed").await;
    assert_eq!(
        seqs(&events),
        (2..=ROUNDS as u64 * 4 + 2).collect::<Vec<_>>(),
        "a reading subscriber misses nothing"
    );
    eventually("only the reader is left", async || {
        (hub.owner.get("/health").await.expect(200)["connectedClients"] == 1).then_some(())
    })
    .await;
    let (frames, _) = slow.closed().await;
    let got = seqs(&frames);
    assert_eq!(got, (1..=got.len() as u64).collect::<Vec<_>>(), "no gap before the end");
    assert!(got.len() < events.len(), "the hub did not buffer everything");
}

/// The subscriber reads one frame while others read ten, so the close frame can still reach it.
#[tokio::test(flavor = "multi_thread")]
async fn a_subscriber_that_falls_behind_is_closed_with_1013_and_can_resume() {
    let hub = Hub::start().await;
    let mut reader = Client::connect(&hub).await;
    let run = reader.prepare(&strategy_file(&hub, &wide())).await;
    let mut slow = Dial::to(&hub).receive_buffer(4096).open().await;
    slow.subscribe(&run).await;
    slow.expect_silence().await;
    reader.start(&run, &"x".repeat(WIDTH)).await;
    let mut got = vec![];
    let mut end = None;
    for number in 0.. {
        if reader.next().await["type"] == "strategy_completed" {
            break;
        }
        if number % 10 == 0 && end.is_none() {
            match slow.next_or_end().await {
                Ok(frame) => got.push(seq(&frame)),
                Err(ended) => end = Some(ended),
            }
        }
    }
    let end = match end {
        Some(end) => end,
        None => {
            let (frames, end) = slow.closed().await;
            got.extend(seqs(&frames));
            end
        }
    };
    assert_eq!(got, (1..=got.len() as u64).collect::<Vec<_>>(), "no gap before the end");
    assert_eq!(end.map(|(code, _)| code), Some(1013), "try again later");
    let mut back = Client::connect(&hub).await;
    back.subscribe_after(&run, *got.last().expect("an event")).await;
    assert_eq!(
        back.frames_so_far().await.last().expect("the end")["type"],
        "strategy_completed"
    );
}

/// Many small chunks: the queue drops streamed text first.
#[tokio::test(flavor = "multi_thread")]
async fn a_subscriber_that_reads_late_misses_only_streaming() {
    const PIECES: usize = 40_000;
    let model = Model::start().await;
    let pieces: Vec<String> = (0..PIECES).map(|number| format!("{number} ")).collect();
    model.script([says(&pieces.iter().map(String::as_str).collect::<Vec<_>>())]);
    let hub = Setup::default().config(&model.config("")).start().await;
    let mut reader = Client::connect(&hub).await;
    let run = reader.prepare(&strategy_file(&hub, &alone(llm()))).await;
    let mut slow = Dial::to(&hub).bearer(&hub.token()).receive_buffer(4096).open().await;
    slow.subscribe(&run).await;
    slow.expect_silence().await;
    reader.start(&run, "count").await;
    let events = reader.until("strategy_completed").await;
    let received = slow.until("strategy_completed").await;
    let durable = |events: &[Value]| -> Vec<Value> {
        let is_durable = |event: &&Value| event["type"] != "agent_streaming" || event["event"]["type"] == "done";
        events.iter().filter(is_durable).cloned().collect()
    };
    assert_eq!(
        durable(&received)[1..],
        durable(&events)[..],
        "all durable events arrive"
    );
    let received_seqs = seqs(&received);
    assert!(received_seqs.is_sorted_by(|a, b| a < b), "in order");
    assert_eq!(durable(&received).last().unwrap()["result"], json!(pieces.concat()));
    slow.expect_silence().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn idle_subscribers_do_not_slow_down_others() {
    let hub = Hub::start().await;
    let mut reader = Client::connect(&hub).await;
    let strategy = cycle(json!({"worker": echo()}), &["worker"], json!({"cycles": 1000}));
    let run = reader.prepare(&strategy_file(&hub, &strategy)).await;
    let mut sleepers = vec![];
    for _ in 0..50 {
        let mut sleeper = Dial::to(&hub).receive_buffer(4096).open().await;
        sleeper.subscribe(&run).await;
        sleeper.expect_silence().await;
        sleepers.push(sleeper);
    }
    reader.start(&run, &"x".repeat(1_000)).await;
    assert_eq!(reader.until("strategy_completed").await.len(), 4 * 1000 + 1);
    let mut other = Client::connect(&hub).await;
    let quick = other.start_strategy(&hub, &talk(), "").await;
    other.next_question().await;
    other.answer(&quick, "user", "hello").await;
    assert_eq!(other.result().await, "hello");
}
