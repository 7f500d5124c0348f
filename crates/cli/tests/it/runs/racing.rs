//! Concurrent answers, stops and starts of one run.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use super::stage::*;
use crate::harness::*;

const CLIENTS: usize = 100;

/// All clients answer at the same moment and then ping; the frames before the pong are the reply.
async fn answer_all_at_once(clients: Vec<Client>, run: &str) -> Vec<(usize, Vec<Value>)> {
    let start = Arc::new(Barrier::new(clients.len()));
    let mut tasks = JoinSet::new();
    for (nth, mut client) in clients.into_iter().enumerate() {
        let start = start.clone();
        let run = run.to_owned();
        tasks.spawn(async move {
            start.wait().await;
            client.answer(&run, "user", &format!("voice {nth}")).await;
            (nth, client.frames_so_far().await)
        });
    }
    within("all replies", tasks.join_all()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn exactly_one_of_a_hundred_answers_wins() {
    let hub = Hub::start().await;
    for _ in 0..3 {
        let mut one = Client::connect(&hub).await;
        let mut two = Client::connect(&hub).await;
        let run = one.prepare(&strategy_file(&hub, &talk())).await;
        two.subscribe(&run).await;
        two.expect_silence().await;
        one.start(&run, "").await;
        let ask = one.next_question().await;
        assert_eq!(two.next_question().await, ask, "both are asked");
        let mut clients = vec![];
        for _ in 0..CLIENTS {
            clients.push(Client::connect(&hub).await);
        }
        let replies = answer_all_at_once(clients, &run).await;
        let winners: Vec<usize> = replies
            .iter()
            .filter(|(_, frames)| frames.is_empty())
            .map(|(nth, _)| *nth)
            .collect();
        assert_eq!(winners.len(), 1, "only the winner gets no reply");
        for (_, frames) in replies.iter().filter(|(nth, _)| *nth != winners[0]) {
            assert_eq!(frames.kinds(), ["error"], "{frames:?}");
            assert_eq!(frames[0]["code"], "NO_PENDING_INPUT");
            assert_eq!(
                frames[0]["message"],
                format!("No pending input request for run {run} agent user")
            );
        }
        for subscriber in [&mut one, &mut two] {
            let events = subscriber.until("strategy_completed").await;
            let completed: Vec<_> = events
                .of_kind("step_completed")
                .into_iter()
                .filter(|event| event["stepName"] == "user")
                .collect();
            assert_eq!(completed.len(), 1, "{events:#?}");
            assert_eq!(completed[0]["result"]["text"], format!("voice {}", winners[0]));
            subscriber.expect_silence().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_stops_end_a_run_once() {
    let hub = Hub::start().await;
    let mut watcher = Client::connect(&hub).await;
    let run = watcher.start_strategy(&hub, &talk(), "").await;
    watcher.next_question().await;
    let start = Arc::new(Barrier::new(CLIENTS));
    let mut tasks = JoinSet::new();
    for _ in 0..CLIENTS {
        let mut client = Client::connect(&hub).await;
        let start = start.clone();
        let run = run.clone();
        tasks.spawn(async move {
            start.wait().await;
            client.stop(&run).await;
            client.expect_silence().await;
        });
    }
    within("all replies", tasks.join_all()).await;
    assert_eq!(watcher.failure().await.0, "CANCELLED");
    watcher.expect_silence().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn exactly_one_of_a_hundred_starts_wins() {
    let hub = Hub::start().await;
    let mut watcher = Client::connect(&hub).await;
    let run = watcher.prepare(&strategy_file(&hub, &talk())).await;
    let start = Arc::new(Barrier::new(CLIENTS));
    let mut tasks = JoinSet::new();
    for nth in 0..CLIENTS {
        let mut client = Client::connect(&hub).await;
        let start = start.clone();
        let run = run.clone();
        tasks.spawn(async move {
            start.wait().await;
            client
                .send(json!({"type": "start_run", "runId": run, "input": nth.to_string()}))
                .await;
            client.frames_so_far().await
        });
    }
    let replies = within("all replies", tasks.join_all()).await;
    let refused: Vec<&Value> = replies.iter().flat_map(|frames| frames.of_kind("error")).collect();
    assert_eq!(refused.len(), CLIENTS - 1);
    assert!(
        refused
            .iter()
            .all(|error| error["message"] == format!("Run already started: {run}")),
        "{refused:?}"
    );
    let events = watcher.until("strategy_completed").await;
    assert_eq!(events.of_kind("strategy_started").len(), 1);
    watcher.expect_silence().await;
}

/// Fifty answers on the socket and fifty in the inbox; the run and the item have the same winner.
#[tokio::test(flavor = "multi_thread")]
async fn the_socket_and_the_inbox_agree_on_the_winning_answer() {
    let hub = Hub::start().await;
    for _ in 0..3 {
        let mut watcher = Client::connect(&hub).await;
        let run = watcher.start_strategy(&hub, &talk(), "").await;
        watcher.next_question().await;
        let id = super::inbox::item_of(&hub, &run).await["id"]
            .as_str()
            .expect("an id")
            .to_owned();
        let mut clients = vec![];
        for _ in 0..CLIENTS / 2 {
            clients.push(Client::connect(&hub).await);
        }
        let people = async {
            let mut requests = JoinSet::new();
            for nth in 0..CLIENTS / 2 {
                let owner = hub.owner.clone();
                let id = id.clone();
                requests.spawn(async move { owner.answer(&id, &format!("desk {nth}")).await.status });
            }
            requests.join_all().await
        };
        let (replies, statuses) = tokio::join!(answer_all_at_once(clients, &run), people);
        let silent = replies.iter().filter(|(_, frames)| frames.is_empty()).count();
        let accepted = statuses.iter().filter(|&&status| status == 200).count();
        assert_eq!(
            silent + accepted,
            1,
            "{silent} winners on the socket and {accepted} in the inbox"
        );
        assert!(
            statuses.iter().all(|status| [200, 409].contains(status)),
            "{statuses:?}"
        );
        let text = watcher.result().await;
        assert_eq!(text.starts_with("voice"), silent == 1, "{text}");
        let shown = hub.owner.get(&format!("/v1/inbox/{id}")).await.expect(200);
        assert_eq!(shown["resolution"]["value"], json!(text), "{shown}");
    }
}
