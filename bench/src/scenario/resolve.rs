use anyhow::Result;

use super::pairs::in_turns;
use super::submit::throughput;
use super::{Settings, requests};
use crate::load::{Slots, drain, measure};
use crate::process::{Ceiling, Hub};
use crate::report::Figure;

/// More than any hub on such a machine resolves per second, so that a window ends by time and not by lack of asks.
const MAX_RESOLVES_PER_SECOND: f64 = 20_000.0;
const FILL_CONNECTIONS: usize = 256;

/// Answers to asks that were just submitted, against the one-row submit of the ceiling.
pub async fn run(settings: &Settings) -> Result<Vec<Figure>> {
    let window = settings.window;
    let asks = ((window.warm_up + window.length).as_secs_f64() * MAX_RESOLVES_PER_SECOND) as u64;
    let mut figures = Vec::new();
    for connections in [32, 256] {
        let hub = Hub::start(&settings.hub).await?;
        let ceiling = Ceiling::start(&settings.hub.root).await?;
        let agent = hub.add_agent("bench").await?;
        let (hub_runs, ceiling_runs) = in_turns(
            settings.rounds,
            async || {
                let fill = requests::submit(&agent, Slots::keys(asks)).capturing();
                let ids = drain(hub.target, FILL_CONNECTIONS, fill).await?;
                measure(
                    hub.target,
                    connections,
                    requests::resolve(&hub, Slots::ids(ids)),
                    window,
                )
                .await
            },
            async || {
                let work = requests::to_ceiling("/submit", Slots::endless());
                measure(ceiling.target, connections, work, window).await
            },
        )
        .await?;
        figures.extend(throughput("resolve", connections, 0.5, &hub_runs, &ceiling_runs));
    }
    Ok(figures)
}
