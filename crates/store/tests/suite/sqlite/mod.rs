//! The embedded engine: the shared behaviours, each on its own file, and the guarantees of this engine.

mod batch;
mod file;
pub mod fresh;
mod restart;
mod scan_limits;
mod sequences;
mod upgrade;

use fresh::Fresh;

macro_rules! on_sqlite {
    ($($subject:ident: $($behaviour:ident)+;)+) => {
        $(
            mod $subject {
                $(
                    #[tokio::test]
                    async fn $behaviour() {
                        let fresh = super::Fresh::open();
                        crate::behaviours::$subject::$behaviour(&fresh.store, &fresh.clock).await;
                    }
                )+
            }
        )+
    };
}

crate::behaviours::behaviours!(on_sqlite);
