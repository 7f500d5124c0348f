//! Waiting in tests: always for a condition with a timeout, never a fixed sleep.

use std::time::Duration;

/// Bounds a hang, not a speed: a busy machine may be many times slower than usual, and `bench` measures how fast the hub
/// is. Tests that tell two mechanisms apart switch one of them off or count its events.
pub const WAIT_TIMEOUT: Duration = Duration::from_secs(30);

pub async fn within<F: Future>(what: &str, future: F) -> F::Output {
    match tokio::time::timeout(WAIT_TIMEOUT, future).await {
        Ok(output) => output,
        Err(_) => panic!("timed out waiting for: {what}"),
    }
}

/// Polls `probe` until it returns something. Only for state that the hub sends no notification about.
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
