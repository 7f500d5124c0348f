//! How long a test waits, and how: always for a condition, never for a time.

use std::time::Duration;

/// Generous, because the machine may be busy; a passing test never comes near it.
pub const WAIT_TIMEOUT: Duration = Duration::from_secs(30);

pub async fn within<F: Future>(what: &str, future: F) -> F::Output {
    match tokio::time::timeout(WAIT_TIMEOUT, future).await {
        Ok(output) => output,
        Err(_) => panic!("timed out waiting for: {what}"),
    }
}

/// Looks again until `look` finds something. Only for facts the hub offers no notification for.
pub async fn eventually<T>(what: &str, mut probe: impl AsyncFnMut() -> Option<T>) -> T {
    within(what, async {
        let mut pause = Duration::from_millis(2);
        loop {
            if let Some(found) = probe().await {
                return found;
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(Duration::from_millis(100));
        }
    })
    .await
}
