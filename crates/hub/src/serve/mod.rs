//! Runs a hub from start to stop.

mod accept;
mod connection;
mod data_dir;
mod front;
mod head_timeout;
mod protocol_sniff;
pub mod routes;
mod startup;
mod tasks;
mod tls;
mod unread_body;
mod write_timeout;

use std::future::Future;
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use accept::Acceptor;
use anyhow::Context;
use countersign_store::clock::{DatabaseClock, SystemClock};
use countersign_store::ops::node::LeaveNode;
use countersign_store::{Store, StoreError};
use data_dir::DataDir;
use front::Front;
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::Hub;
use crate::admin::keys::ensure_key;
use crate::config::Config;
use crate::delivery::Outbox;
use crate::http::host::AllowedHosts;
use crate::node;
pub use data_dir::DataDirLock;
use routes::Pages;

/// How long open requests and pushes may take at a stop.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(10);

pub struct ServeOptions {
    pub config: Config,
    pub data: PathBuf,
    pub pages: Pages,
}

/// Serves until `stop` resolves, then drains and returns.
pub async fn run(options: ServeOptions, stop: impl Future<Output = ()>) -> anyhow::Result<()> {
    let data = DataDir::open(&options.data)?;
    let acceptor = Acceptor::from_config(&options.config)?;
    let store = Arc::new(
        open_store(&options.config, &data)
            .await
            .context("cannot open the database")?,
    );
    ensure_key(&store).await?;
    let (stop_sender, stopping) = watch::channel(false);
    let outbox = Outbox::new(Arc::clone(&store), options.config.push)?;
    let hub = Hub::new(store, options.config, outbox, stopping)?;
    let (listener, address) = listen(&hub.config).await?;
    hub.process
        .set_local_url(format!("{}://{}", acceptor.scheme(), reachable(address)));
    // Before clients can connect, so that they find waiting runs.
    replace_previous_node(&hub, &data)
        .await
        .context("cannot restore unfinished work")?;
    let welcome = startup::prepare(&hub).await?;
    data.announce(&welcome)?;
    hub.outbox.start().await?;
    let mut background = tasks::start(&hub);
    let front = Front {
        router: routes::router(Arc::clone(&hub), options.pages),
        hosts: Arc::new(AllowedHosts::from_config(&hub.config)),
        has_tls: hub.config.tls.is_some(),
    };
    let serving = tokio::spawn(acceptor.serve(listener, front, hub.process.stopping.clone(), SHUTDOWN_GRACE));
    print(&welcome.text(&hub))?;
    stop.await;
    print("Stopping: answering waiting requests and finishing open work.\n")?;
    data.withdraw();
    // Fails only when no receiver is left.
    let _ = stop_sender.send(true);
    let pushes = hub.outbox.stop(SHUTDOWN_GRACE);
    let (served, (), ()) = tokio::join!(serving, pushes, hub.runs.stop_runs());
    hub.cluster.flush().await;
    background.shutdown().await;
    flush_in_memory_state(&hub).await;
    if let Err(error) = node::leave(&hub).await {
        tracing::warn!(%error, "releasing unfinished work failed; other nodes take it over when the lease expires");
    }
    hub.store.checkpoint()?;
    served.context("the listener failed")
}

/// Removes the previous node of this data directory at once instead of waiting for its lease: the lock on the directory
/// proves that its process is gone.
async fn replace_previous_node(hub: &Arc<Hub>, data: &DataDir) -> anyhow::Result<()> {
    if hub.store.is_shared() {
        if let Some(id) = data.previous_node() {
            hub.store.run(LeaveNode { id }).await?;
        }
        drop(hub.process.node_file.set(data.node_file()));
        hub.process.write_node_file(&hub.store.node());
    }
    Ok(node::enter(hub).await?)
}

async fn open_store(config: &Config, data: &DataDir) -> Result<Store, StoreError> {
    match &config.database_url {
        Some(url) => Store::open_postgres(url.reveal(), Arc::new(DatabaseClock::default())).await,
        None => Store::open_sqlite(&data.database(), Arc::new(SystemClock)),
    }
}

/// Stores receipts and last-seen times that are only in memory.
async fn flush_in_memory_state(hub: &Hub) {
    let (receipts, presence) = tokio::join!(hub.background.receipts.flush(), hub.background.agent_last_seen.flush());
    if let Err(error) = receipts.and(presence) {
        tracing::warn!(%error, "storing receipts and last-seen times at the stop failed");
    }
}

/// Replaces an unspecified address by loopback, because clients cannot connect to it.
fn reachable(address: SocketAddr) -> SocketAddr {
    match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => SocketAddr::new(Ipv4Addr::LOCALHOST.into(), address.port()),
        IpAddr::V6(ip) if ip.is_unspecified() => SocketAddr::new(Ipv6Addr::LOCALHOST.into(), address.port()),
        IpAddr::V4(_) | IpAddr::V6(_) => address,
    }
}

/// Prints to standard output; a closed pipe is not an error.
fn print(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Binds the configured address or fails. Only the default address falls back to a free port.
async fn listen(config: &Config) -> anyhow::Result<(TcpListener, SocketAddr)> {
    let wanted = config.listen;
    let listener = match TcpListener::bind(wanted).await {
        Err(error) if config.listen_is_default && error.kind() == std::io::ErrorKind::AddrInUse => {
            let free = TcpListener::bind(SocketAddr::new(wanted.ip(), 0))
                .await
                .context("no free port")?;
            print(&format!(
                "Port {} is taken by another program; using a free one.\n",
                wanted.port()
            ))?;
            free
        }
        bound => bound.with_context(|| format!("cannot listen on {wanted}"))?,
    };
    let address = listener.local_addr()?;
    Ok((listener, address))
}
