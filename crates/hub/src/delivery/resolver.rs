//! Names to addresses, with the guard in between: the addresses that were checked are the ones dialled, so a name
//! cannot change its meaning between the check and the connection.

use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::Arc;

use futures_util::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use tokio::sync::Semaphore;

use super::guard;

/// A look-up occupies a thread until the system's resolver gives up, whatever our own timeouts say.
const MAX_CONCURRENT_LOOKUPS: usize = 64;
const MAX_ADDRESSES: usize = 16;

pub trait DnsLookup: Send + Sync + 'static {
    fn lookup(&self, name: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>>;
}

/// The operating system's resolver: it honours the hosts file and whatever else the operator has set up.
pub struct SystemLookup {
    slots: Arc<Semaphore>,
}

impl Default for SystemLookup {
    fn default() -> Self {
        Self {
            slots: Arc::new(Semaphore::new(MAX_CONCURRENT_LOOKUPS)),
        }
    }
}

impl DnsLookup for SystemLookup {
    fn lookup(&self, name: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        let name = name.to_owned();
        let slots = Arc::clone(&self.slots);
        Box::pin(async move {
            let slot = slots.acquire_owned().await.map_err(io::Error::other)?;
            let looking = tokio::task::spawn_blocking(move || {
                // Held by the thread, not by the caller: the thread goes on when the caller has given up.
                let _slot = slot;
                Ok((name.as_str(), 0)
                    .to_socket_addrs()?
                    .map(|address| address.ip())
                    .collect())
            });
            looking.await.map_err(io::Error::other)?
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the host name does not resolve")]
pub struct Unresolved;

pub struct GuardedResolver {
    lookup: Arc<dyn DnsLookup>,
    allow_loopback: bool,
}

impl GuardedResolver {
    pub fn new(lookup: Arc<dyn DnsLookup>, allow_loopback: bool) -> Self {
        Self { lookup, allow_loopback }
    }
}

impl Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let looking = self.lookup.lookup(name.as_str());
        let allow_loopback = self.allow_loopback;
        Box::pin(async move {
            let addresses = looking.await.map_err(|_| Unresolved)?;
            // One forbidden address among good ones is how a name is prepared for an attack: refuse them all.
            addresses.iter().try_for_each(|ip| guard::check(*ip, allow_loopback))?;
            if addresses.is_empty() {
                return Err(Unresolved.into());
            }
            // The port comes from the URL.
            let dialled = addresses
                .into_iter()
                .take(MAX_ADDRESSES)
                .map(|ip| SocketAddr::new(ip, 0));
            Ok(Box::new(dialled) as Addrs)
        })
    }
}
