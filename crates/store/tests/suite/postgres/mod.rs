//! PostgreSQL: the shared behaviours, each in its own database, and the guarantees of this engine.

mod bus;
mod clock;
mod connect_errors;
mod database;
pub mod fresh;
mod index_order;
mod outages;
mod overdue;
mod proxy;
mod row_conflicts;
mod sequences;
mod server;
mod sharing;
mod upgrade;

use std::future::Future;
use std::time::Duration;

use fresh::Fresh;

/// Turns a hang into a failure.
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
