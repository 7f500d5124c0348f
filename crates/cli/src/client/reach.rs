//! The way to the hub. A hub that was started anew has another token for its own machine, and perhaps another port; both are
//! found where they were found the first time.

use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;

use super::{Client, Location, Place};

pub struct Reach {
    client: Mutex<Arc<Client>>,
}

impl Reach {
    pub fn new(location: Location) -> Result<Self> {
        Ok(Self {
            client: Mutex::new(Arc::new(Client::new(location)?)),
        })
    }

    pub fn client(&self) -> Arc<Client> {
        Arc::clone(&self.client.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Looks again where the hub is. Whoever named it in the environment meant that one and no other.
    pub fn renew(&self) {
        let Place::DataDirectory(data) = self.client().location().place.clone() else {
            return;
        };
        let Ok(found) = Location::find(|| Ok(data)) else { return };
        if let Ok(client) = Client::new(found) {
            *self.client.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(client);
        }
    }
}
