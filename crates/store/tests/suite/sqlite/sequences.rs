use proptest::prelude::*;

use super::fresh::Fresh;
use crate::sequences::{compare, run_steps, steps};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn store_matches_the_model(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime starts");
        runtime.block_on(async {
            let fresh = Fresh::open();
            let model = run_steps(&fresh.store, &fresh.clock, steps).await?;
            compare(&fresh.reopen().store, &model).await
        })?;
    }
}
