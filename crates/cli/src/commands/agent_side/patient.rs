//! Calls that are made again while the hub is there and cannot do them: its database may be away for a moment.

use std::time::Duration;

use reqwest::StatusCode;
use tokio::time::{Instant, sleep};

use crate::client::HubError;
use crate::screen;

const BETWEEN_CALLS: Duration = Duration::from_secs(1);
/// As the SDK does.
const LONGEST: Duration = Duration::from_secs(600);

/// Only for calls that change nothing when they are repeated. `deadline` is the caller's own.
pub async fn outlast<T>(deadline: Option<Instant>, call: impl AsyncFn() -> Result<T, HubError>) -> Result<T, HubError> {
    let limit = Instant::now() + LONGEST;
    let until = deadline.map_or(limit, |deadline| deadline.min(limit));
    let mut is_told = false;
    loop {
        match call().await {
            Err(HubError::Refused {
                status: StatusCode::SERVICE_UNAVAILABLE,
                message,
                ..
            }) if Instant::now() + BETWEEN_CALLS < until => {
                if !std::mem::replace(&mut is_told, true) {
                    screen::remark(&format!("the hub cannot do it yet: trying on ({message})"));
                }
                sleep(BETWEEN_CALLS).await;
            }
            done => return done,
        }
    }
}
