//! Taking connections in, and letting them go.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use super::{connection, tls};
use crate::auth::Peer;
use crate::config::Config;

const MOST_CONNECTIONS: usize = 100_000;
const HANDSHAKE: Duration = Duration::from_secs(10);
/// When the system has no more file descriptors, trying again at once would only burn the processor.
const OUT_OF_DESCRIPTORS: Duration = Duration::from_millis(100);

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

    /// Accepts until the hub stops, then waits for what is under way, but no longer than `grace`.
    pub async fn serve(self, listener: TcpListener, router: Router, stopping: watch::Receiver<bool>, grace: Duration) {
        let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
        let mut stop = stopping.clone();
        loop {
            let accepted = tokio::select! {
                accepted = accept(&listener, &places) => accepted,
                _ = stop.wait_for(|stop| *stop) => break,
            };
            let Some((stream, peer, place)) = accepted else {
                continue;
            };
            let router = router.clone();
            let stopping = stopping.clone();
            let tls = self.tls.clone();
            tokio::spawn(async move {
                match tls {
                    None => connection::serve(stream, peer, router, stopping).await,
                    Some(tls) => Box::pin(serve_tls(tls, stream, peer, router, stopping)).await,
                }
                drop(place);
            });
        }
        drop(listener);
        let everybody = u32::try_from(MOST_CONNECTIONS).unwrap_or(u32::MAX);
        if timeout(grace, places.acquire_many(everybody)).await.is_err() {
            tracing::warn!("some connections did not finish in time and are cut");
        }
    }
}

async fn serve_tls(tls: TlsAcceptor, stream: TcpStream, peer: Peer, router: Router, stopping: watch::Receiver<bool>) {
    if let Ok(Ok(stream)) = timeout(HANDSHAKE, tls.accept(stream)).await {
        connection::serve(stream, peer, router, stopping).await;
    }
}

async fn accept(listener: &TcpListener, places: &Arc<Semaphore>) -> Option<(TcpStream, Peer, OwnedSemaphorePermit)> {
    let place = Arc::clone(places).acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, address)) => {
            // An answer of a few hundred bytes should not wait for a full packet.
            drop(stream.set_nodelay(true));
            Some((stream, Peer(address.ip()), place))
        }
        Err(error) => {
            tracing::warn!(%error, "a connection could not be accepted");
            tokio::time::sleep(OUT_OF_DESCRIPTORS).await;
            None
        }
    }
}
