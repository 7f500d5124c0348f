//! News from the hub as it happens. The connection is made again and again; whoever listens is told when it holds, and looks
//! then, because what happened in between was not heard.

mod events;

use std::time::Duration;

use reqwest::header::ACCEPT;
use reqwest::{Response, StatusCode};
use tokio::sync::mpsc::Sender;

use super::state::Input;
use crate::client::{Client, Reach};
use events::Events;

pub use events::News;

/// The hub says something at least every 20 seconds, if only that it is still there.
const SILENCE: Duration = Duration::from_secs(60);
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

#[derive(Debug, PartialEq)]
pub enum Feed {
    Live,
    /// And why.
    Lost(String),
    News(News),
}

/// Goes on until nobody listens any more.
pub async fn run(reach: &Reach, heard: &Sender<Input>) {
    let mut pause = FIRST_PAUSE;
    loop {
        let why = match connect(&reach.client()).await {
            Ok(response) => {
                pause = FIRST_PAUSE;
                listen(response, heard).await
            }
            Err(why) => why,
        };
        if heard.send(Input::Feed(Feed::Lost(why))).await.is_err() {
            return;
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
        reach.renew();
    }
}

async fn connect(client: &Client) -> Result<Response, String> {
    let location = client.location();
    let unreachable = || format!("the hub at {} cannot be reached", location.shown_url());
    // A reply that never ends has no timeout but that for silence.
    let http = location
        .http()
        .read_timeout(SILENCE)
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
        StatusCode::UNAUTHORIZED => "the hub does not take this token any more".to_owned(),
        status => format!("the hub answered {}", status.as_u16()),
    }
}

/// Until the connection ends; says why it did.
async fn listen(mut response: Response, heard: &Sender<Input>) -> String {
    let mut events = Events::default();
    if heard.send(Input::Feed(Feed::Live)).await.is_err() {
        return String::new();
    }
    while let Ok(Some(chunk)) = response.chunk().await {
        let Some(news) = events.read(&chunk) else {
            return "the hub sent more than this program takes".to_owned();
        };
        for one in news {
            if heard.send(Input::Feed(Feed::News(one))).await.is_err() {
                return String::new();
            }
        }
    }
    "the connection to the hub ended".to_owned()
}
