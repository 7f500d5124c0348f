//! The live event stream of the hub, reconnected with backoff. The receiver reloads after each reconnect, because
//! events in between were missed.

mod events;

use std::time::Duration;

use countersign_client::hub::{HubClient, RelocatingClient};
use countersign_protocol::backoff::Backoff;
use countersign_protocol::sse::SseParser;
use reqwest::header::ACCEPT;
use reqwest::{Response, StatusCode};
use tokio::sync::mpsc::Sender;

use super::state::InboxInput;

pub use events::InboxChange;

/// The hub sends at least a keep-alive every 20 seconds.
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);
/// Far above any event's size; a larger one does not come from a hub.
const MAX_EVENT_BYTES: usize = 1024 * 1024;
const MIN_BACKOFF: Duration = Duration::from_millis(250);
const MAX_BACKOFF: Duration = Duration::from_secs(5);

#[derive(Debug, PartialEq)]
pub enum FeedEvent {
    Live,
    /// With the reason.
    Lost(String),
    Change(InboxChange),
}

/// Runs until the receiver is dropped.
pub async fn run(hub_client: &RelocatingClient, inputs: &Sender<InboxInput>) {
    let mut backoff = Backoff::new(MIN_BACKOFF, MAX_BACKOFF);
    loop {
        let why = match connect(&hub_client.client()).await {
            Ok(response) => {
                backoff.reset();
                listen(response, inputs).await
            }
            Err(why) => why,
        };
        if inputs.send(InboxInput::Feed(FeedEvent::Lost(why))).await.is_err() {
            return;
        }
        tokio::time::sleep(backoff.pause()).await;
        hub_client.relocate();
    }
}

async fn connect(client: &HubClient) -> Result<Response, String> {
    let location = client.location();
    let unreachable = || format!("the hub at {} cannot be reached", location.shown_url());
    // An endless response has only a read timeout.
    let http = location
        .http()
        .read_timeout(IDLE_TIMEOUT)
        .build()
        .map_err(|_| unreachable())?;
    let url = client.url(&["v1", "inbox", "events"]);
    let request = http
        .get(url)
        .bearer_auth(&location.token)
        .header(ACCEPT, "text/event-stream");
    let response = request.send().await.map_err(|_| unreachable())?;
    if response.status() == StatusCode::OK {
        Ok(response)
    } else {
        Err(refusal(response.status()))
    }
}

fn refusal(status: StatusCode) -> String {
    match status {
        StatusCode::UNAUTHORIZED => "the hub no longer accepts this token".to_owned(),
        status => format!("the hub answered {}", status.as_u16()),
    }
}

/// Reads events until the connection ends, and returns the reason.
async fn listen(mut response: Response, inputs: &Sender<InboxInput>) -> String {
    let mut parser = SseParser::new(MAX_EVENT_BYTES);
    if inputs.send(InboxInput::Feed(FeedEvent::Live)).await.is_err() {
        return String::new();
    }
    while let Ok(Some(chunk)) = response.chunk().await {
        let Ok(events) = parser.feed(&chunk) else {
            return "the hub sent an event that is too large".to_owned();
        };
        for change in events.iter().filter_map(InboxChange::read) {
            if inputs.send(InboxInput::Feed(FeedEvent::Change(change))).await.is_err() {
                return String::new();
            }
        }
    }
    "the connection to the hub ended".to_owned()
}
