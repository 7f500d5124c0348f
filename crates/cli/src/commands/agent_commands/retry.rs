//! Retries while the hub answers 503, for example during a short database outage.

use std::time::Duration;

use countersign_client::hub::ClientError;
use countersign_client::screen;
use reqwest::StatusCode;
use tokio::time::{Instant, sleep};

const RETRY_INTERVAL: Duration = Duration::from_secs(1);
/// The same limit as in the SDK.
const MAX_RETRY_TIME: Duration = Duration::from_secs(600);

/// Only for idempotent calls. `deadline` is the caller's own.
pub async fn retry_unavailable<T>(
    deadline: Option<Instant>,
    call: impl AsyncFn() -> Result<T, ClientError>,
) -> Result<T, ClientError> {
    let limit = Instant::now() + MAX_RETRY_TIME;
    let until = deadline.map_or(limit, |deadline| deadline.min(limit));
    let mut notified = false;
    loop {
        match call().await {
            Err(ClientError::Refused {
                status: StatusCode::SERVICE_UNAVAILABLE,
                message,
                ..
            }) if Instant::now() + RETRY_INTERVAL < until => {
                if !std::mem::replace(&mut notified, true) {
                    screen::print_notice(&format!("the hub is temporarily unavailable; retrying ({message})"));
                }
                sleep(RETRY_INTERVAL).await;
            }
            done => return done,
        }
    }
}
