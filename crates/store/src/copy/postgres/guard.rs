//! Whether hubs are at work on a database, as far as that can be seen from it.

use std::time::Duration;

use tokio_postgres::Config;

use super::{APPLICATION_NAME, PostgresSide};
use crate::error::StoreError;

/// What a hub calls itself unless its URL says otherwise.
const HUB_APPLICATION_NAME: &str = "countersign";
/// The connections of a hub that has just ended are there for a moment longer.
const MAX_CHECKS: u32 = 20;
const CHECK_INTERVAL: Duration = Duration::from_millis(100);

const CONNECTIONS: &str = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() \
     AND application_name = ANY($1)";
/// By the database's own clock, as hubs go by it.
const LEASES: &str = "SELECT count(*) FROM node \
     WHERE lease_until > floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/// A URL that names its connections names those of the hubs too, if they have the same.
pub fn hub_names(config: &Config) -> Vec<String> {
    let own = config.get_application_name().filter(|name| *name != APPLICATION_NAME);
    std::iter::once(HUB_APPLICATION_NAME)
        .chain(own)
        .map(str::to_owned)
        .collect()
}

impl PostgresSide {
    /// What gives them away, in words.
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
        // Also one that has lost its connections, and is about to make new ones.
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
