//! Accepts connections, and drains them at a stop.

use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use super::front::Front;
use super::{connection, tls};
use crate::config::Config;
use crate::http::client_addr::Endpoints;

const MAX_CONNECTIONS: usize = 100_000;
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// Without file descriptors, retrying at once would only burn CPU.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(100);

pub struct Acceptor {
    tls: Option<TlsAcceptor>,
}

impl Acceptor {
    pub fn from_config(config: &Config) -> anyhow::Result<Self> {
        Ok(Self {
            tls: config.tls.as_ref().map(tls::acceptor).transpose()?,
        })
    }

    pub fn scheme(&self) -> &'static str {
        if self.tls.is_some() { "https" } else { "http" }
    }

    /// Accepts until the hub stops, then waits up to `grace` for open connections.
    pub async fn serve(self, listener: TcpListener, front: Front, stopping: watch::Receiver<bool>, grace: Duration) {
        let slots = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        let mut stop = stopping.clone();
        loop {
            let accepted = tokio::select! {
                accepted = accept(&listener, &slots) => accepted,
                _ = stop.wait_for(|stop| *stop) => break,
            };
            let Some((stream, endpoints, slot)) = accepted else {
                continue;
            };
            let front = front.clone();
            let stopping = stopping.clone();
            let tls = self.tls.clone();
            tokio::spawn(async move {
                match tls {
                    None => connection::serve(stream, endpoints, front, stopping).await,
                    Some(tls) => Box::pin(serve_tls(tls, stream, endpoints, front, stopping)).await,
                }
                drop(slot);
            });
        }
        drop(listener);
        let all_slots = u32::try_from(MAX_CONNECTIONS).unwrap_or(u32::MAX);
        if timeout(grace, slots.acquire_many(all_slots)).await.is_err() {
            tracing::warn!("closing connections that did not finish within the shutdown grace");
        }
    }
}

async fn serve_tls(
    tls: TlsAcceptor,
    stream: TcpStream,
    endpoints: Endpoints,
    front: Front,
    stopping: watch::Receiver<bool>,
) {
    if let Ok(Ok(stream)) = timeout(HANDSHAKE_TIMEOUT, tls.accept(stream)).await {
        connection::serve(stream, endpoints, front, stopping).await;
    }
}

async fn accept(
    listener: &TcpListener,
    slots: &Arc<Semaphore>,
) -> Option<(TcpStream, Endpoints, OwnedSemaphorePermit)> {
    let slot = Arc::clone(slots).acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, client)) => {
            // Small responses should not wait for a full packet.
            drop(stream.set_nodelay(true));
            // A client that has reset its connection already leaves no address.
            let hub = stream.local_addr().ok()?;
            Some((stream, Endpoints { client, hub }, slot))
        }
        Err(error) => {
            tracing::warn!(%error, "accepting a connection failed");
            tokio::time::sleep(ACCEPT_RETRY_DELAY).await;
            None
        }
    }
}
