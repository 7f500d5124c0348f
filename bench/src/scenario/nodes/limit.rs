use anyhow::Result;

use super::CONNECTIONS;
use crate::load::{Slots, measure_spread};
use crate::process::{Hub, HubOptions, Postgres};
use crate::report::Figure;
use crate::scenario::Settings;
use crate::scenario::cluster::Cluster;
use crate::scenario::pairs::{each, in_turns};

/// The cost of the shared rate limit in the database: a hub with the limit against a hub without it.
pub async fn figure(settings: &Settings, postgres: &Postgres) -> Result<Figure> {
    const DATABASE: &str = "counting";
    let cluster = Cluster::start(settings, postgres, DATABASE, 1).await?;
    let database_url = Some(postgres.url(DATABASE));
    let counting = Hub::start(&HubOptions {
        database_url,
        rate_limit: true,
        ..settings.hub.clone()
    })
    .await?;
    // The same agents and database, with another hub.
    let other = Cluster {
        agents: cluster.agents.clone(),
        servers: vec![counting.target.pid, postgres.pid],
        hubs: vec![counting],
    };
    let run = async |cluster: &Cluster| {
        let workers = cluster.submit(CONNECTIONS, Slots::endless());
        measure_spread(&cluster.servers, workers, settings.window).await
    };
    let (limited, unlimited) = in_turns(
        settings.rounds,
        async || run(&other).await,
        async || run(&cluster).await,
    )
    .await?;
    let rate = |runs: &[_]| each(runs, crate::load::Sample::per_second);
    let name = format!("1 node that counts requests, submit at {CONNECTIONS}: rate");
    Ok(Figure::single(name, "1/s", rate(&limited)).against("no limit", rate(&unlimited)))
}
