//! Many waiting runs, started over a few connections.

use std::path::Path;

use serde_json::{Value, json};

use super::Client;

/// Starts `count` runs of a strategy whose first agent asks, and returns their questions.
pub async fn waiting_runs(clients: &mut [Client], path: &Path, count: usize) -> Vec<Value> {
    let mut asks = vec![];
    let share = count.div_ceil(clients.len());
    for (nth, client) in clients.iter_mut().enumerate() {
        let mine = share.min(count - nth * share);
        for number in 0..mine {
            let run = format!("run-{nth}-{number}");
            client
                .send(json!({"type": "prepare_run", "strategyPath": path, "runId": run}))
                .await;
            client.send(json!({"type": "start_run", "runId": run})).await;
        }
        while asks.len() < nth * share + mine {
            let frame = client.next().await;
            match frame["type"].as_str() {
                Some("request_input") => asks.push(frame),
                Some("error") => panic!("{frame}"),
                _ => {}
            }
        }
    }
    asks
}
