//! Detects hubs that are running on a database.

use std::time::Duration;

use tokio_postgres::Config;

use super::{APPLICATION_NAME, PostgresSide};
use crate::error::StoreError;

/// The application name of a hub's connections, unless its URL sets another.
const HUB_APPLICATION_NAME: &str = "countersign";
/// The connections of a hub that has just stopped remain visible for a moment.
const MAX_CHECKS: u32 = 20;
const CHECK_INTERVAL: Duration = Duration::from_millis(100);

const CONNECTIONS: &str = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() \
     AND application_name = ANY($1)";
/// By the database's clock, which the hubs follow.
const LEASES: &str = "SELECT count(*) FROM node \
     WHERE lease_until > floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/// A URL with an application name may be the hubs' own URL, so that name counts as a hub's too.
pub fn hub_names(config: &Config) -> Vec<String> {
    let own = config.get_application_name().filter(|name| *name != APPLICATION_NAME);
    std::iter::once(HUB_APPLICATION_NAME)
        .chain(own)
        .map(str::to_owned)
        .collect()
}

impl PostgresSide {
    /// A description of the running hubs, if any are found.
    pub(super) async fn find_running_hubs(&self) -> Result<Option<String>, StoreError> {
        for _ in 1..MAX_CHECKS {
            if self.running_hubs_now().await?.is_none() {
                return Ok(None);
            }
            tokio::time::sleep(CHECK_INTERVAL).await;
        }
        self.running_hubs_now().await
    }

    async fn running_hubs_now(&self) -> Result<Option<String>, StoreError> {
        let connections: i64 = self
            .connection
            .query_one(CONNECTIONS, &[&self.hub_names])
            .await?
            .try_get(0)?;
        if connections > 0 {
            return Ok(Some(format!("connections: {connections}")));
        }
        // A lease also reveals a hub that has lost its connections and is about to reconnect.
        let known = self
            .connection
            .query_one("SELECT to_regclass('node') IS NOT NULL", &[])
            .await?;
        if !known.try_get::<_, bool>(0)? {
            return Ok(None);
        }
        let leases: i64 = self.connection.query_one(LEASES, &[]).await?.try_get(0)?;
        Ok((leases > 0).then(|| format!("live leases: {leases}")))
    }
}
