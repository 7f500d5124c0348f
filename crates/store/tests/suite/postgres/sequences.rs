use proptest::prelude::*;

use super::fresh::Fresh;
use crate::sequences::{compare, live_through, steps};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn the_store_does_what_the_model_does(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime starts");
        runtime.block_on(async {
            let fresh = Fresh::open().await;
            let model = live_through(&fresh.store, &fresh.clock, steps).await?;
            compare(&fresh.neighbour().await, &model).await
        })?;
    }
}
