//! A client that can locate its hub again: after a restart the hub has a new local token and perhaps another port,
//! both found in the same data directory.

use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;

use super::{AddressSource, HubClient, HubLocation};

pub struct RelocatingClient {
    client: Mutex<Arc<HubClient>>,
}

impl RelocatingClient {
    pub fn new(location: HubLocation) -> Result<Self> {
        Ok(Self {
            client: Mutex::new(Arc::new(HubClient::new(location)?)),
        })
    }

    pub fn client(&self) -> Arc<HubClient> {
        Arc::clone(&self.client.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Locates the hub again. An address from the environment is fixed and is not looked up again.
    pub fn relocate(&self) {
        let AddressSource::DataDirectory(data) = self.client().location().source.clone() else {
            return;
        };
        let Ok(found) = HubLocation::find(|| Ok(data)) else {
            return;
        };
        if let Ok(client) = HubClient::new(found) {
            *self.client.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(client);
        }
    }
}
