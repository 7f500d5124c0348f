//! PostgreSQL: the common behaviours, each in a database of its own, and what only this engine promises.

mod bus;
mod clock;
mod database;
pub mod fresh;
mod outages;
mod overdue;
mod proxy;
mod rivals;
mod sequences;
mod server;
mod sharing;
mod turns;
mod upgrade;

use std::future::Future;
use std::time::Duration;

use fresh::Fresh;

/// What would hang fails instead.
async fn within_timeout<F: Future>(work: F) -> F::Output {
    tokio::time::timeout(Duration::from_secs(30), work)
        .await
        .expect("it comes to an end")
}

macro_rules! on_postgres {
    ($($subject:ident: $($behaviour:ident)+;)+) => {
        $(
            mod $subject {
                $(
                    #[tokio::test]
                    async fn $behaviour() {
                        let fresh = super::Fresh::open().await;
                        crate::behaviours::$subject::$behaviour(&fresh.store, &fresh.clock).await;
                    }
                )+
            }
        )+
    };
}

crate::behaviours::behaviours!(on_postgres);
