use proptest::prelude::*;

use super::fresh::Fresh;
use crate::sequences::{compare, run_steps, steps};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn store_matches_the_model(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime starts");
        runtime.block_on(async {
            let fresh = Fresh::open().await;
            let model = run_steps(&fresh.store, &fresh.clock, steps).await?;
            compare(&fresh.neighbour().await, &model).await
        })?;
    }
}
