use std::time::{Duration, Instant};

use anyhow::Result;

use super::pairs::in_turns;
use super::receiver::Receiver;
use super::{Settings, requests};
use crate::load::{Slot, Slots, drain};
use crate::process::{Hub, HubOptions};
use crate::report::{Figure, Goal};

const FILL_CONNECTIONS: usize = 256;
const ALL_PUSHED_TIMEOUT: Duration = Duration::from_secs(120);

/// Pushes per second, from the first answer to the last push. One side of the pair also pushes a tenth of its answers
/// to a receiver that hangs; the other side has the same number of extra answers without a callback.
pub async fn run(settings: &Settings) -> Result<Vec<Figure>> {
    let rounds = settings.rounds.div_ceil(2);
    let (hindered, free) = in_turns(
        rounds,
        async || pushes_per_second(settings, true).await,
        async || pushes_per_second(settings, false).await,
    )
    .await?;
    Ok(vec![
        Figure::single("pushes", "1/s", free.clone()).goal(Goal::ValueAtLeast(2000.0)),
        Figure::single("pushes beside a receiver that hangs", "1/s", hindered)
            .against("without it", free)
            .goal(Goal::RatioAtLeast(0.9)),
    ])
}

/// A fresh hub each time, so that pending deliveries to the hanging receiver do not burden the next run.
async fn pushes_per_second(settings: &Settings, with_hanging: bool) -> Result<f64> {
    let hub = Hub::start(&HubOptions {
        loopback_callbacks: true,
        ..settings.hub.clone()
    })
    .await?;
    let agent = hub.add_agent("bench").await?;
    let good = Receiver::answering().await?;
    let bad = Receiver::hanging().await?;
    hub.approve_callback(&agent, good.address).await?;
    hub.approve_callback(&agent, bad.address).await?;
    let pushed = requests::submit_with_callback(&agent, Slots::keys(settings.pushes as u64), good.address);
    let pushed = drain(hub.target, FILL_CONNECTIONS, pushed.capturing()).await?;
    let others = Slots::keys(settings.hanging as u64);
    let others = if with_hanging {
        requests::submit_with_callback(&agent, others, bad.address)
    } else {
        requests::submit(&agent, others)
    };
    let others = drain(hub.target, FILL_CONNECTIONS, others.capturing()).await?;
    let started = Instant::now();
    let resolve = drain(
        hub.target,
        FILL_CONNECTIONS,
        requests::resolve(&hub, Slots::ids(mixed(&pushed, &others))),
    );
    let (resolved, last) = tokio::join!(resolve, good.until_received(settings.pushes, ALL_PUSHED_TIMEOUT));
    resolved?;
    Ok(settings.pushes as f64 / last?.duration_since(started).as_secs_f64())
}

/// Spreads the few evenly among the many.
fn mixed(many: &[Slot], few: &[Slot]) -> Vec<Slot> {
    let every = (many.len() / few.len().max(1)).max(1);
    let mut all = Vec::with_capacity(many.len() + few.len());
    let mut few = few.iter();
    for chunk in many.chunks(every) {
        all.extend(few.next());
        all.extend(chunk);
    }
    all.extend(few);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_few_are_spread_among_the_many() {
        let slots = |letters: &[u8]| letters.iter().map(|&letter| [letter; 30]).collect::<Vec<Slot>>();
        let order: Vec<u8> = mixed(&slots(b"abcd"), &slots(b"XY"))
            .iter()
            .map(|slot| slot[0])
            .collect();
        assert_eq!(order, b"XabYcd");
        assert_eq!(mixed(&slots(b"a"), &slots(b"XYZ")).len(), 4);
    }
}
