//! Name resolution with the guard inside: the checked addresses are the ones dialled, which prevents DNS rebinding
//! between check and connection.

use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::Arc;

use futures_util::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use tokio::sync::Semaphore;

use super::guard;

/// Bounded, because a look-up occupies a thread until the system's resolver gives up, beyond our own time-outs.
const MAX_CONCURRENT_LOOKUPS: usize = 64;
const MAX_ADDRESSES: usize = 16;

pub trait DnsLookup: Send + Sync + 'static {
    fn lookup(&self, name: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>>;
}

/// The operating system's resolver, which honours the hosts file and other local settings.
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
                // The thread owns the slot, because it continues after the caller has given up.
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
            // One blocked address refuses the name: mixing it with good addresses is a known attack.
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
