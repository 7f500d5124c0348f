//! Runs a hub from start to stop.

mod connection;
mod data_dir;
mod database;
mod front;
mod lan;
pub mod output;
pub mod routes;
mod startup;
mod stream;
mod tasks;
mod tls;

use std::future::Future;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use connection::Acceptor;
use countersign_config::Config;
use countersign_store::Store;
use countersign_store::clock::{Clock, SystemClock};
use countersign_store::ops::admin::data_loss::RecordDataLoss;
use countersign_store::ops::node::LeaveNode;
use data_dir::DataDir;
use front::Front;
use futures_util::FutureExt;
use futures_util::future::OptionFuture;
use lan::LanCertificate;
use output::print;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::timeout;

use crate::Hub;
use crate::admin::keys::ensure_key;
use crate::delivery::Outbox;
use crate::http::host::AllowedHosts;
use crate::node;
use crate::process::FailedForGood;
pub use data_dir::DataDirLock;
use routes::Pages;
use startup::HUB_ACTOR;

/// How long open requests and pushes may take at a stop.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(10);
/// How long everything together may take at a stop, so that a hub with a failed part ends too.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(25);

pub struct ServeOptions {
    pub config: Config,
    pub data: PathBuf,
    pub pages: Pages,
    /// Starts on a `hub.db` that has lost entries too.
    pub accept_data_loss: bool,
    /// The text that is printed when the hub is ready.
    pub greet: Box<dyn FnOnce(&Greeting) -> String + Send>,
}

/// What the person who starts a hub needs to know.
pub struct Greeting {
    pub local_url: String,
    /// The address for browsers.
    pub browser_url: String,
    pub sign_in_url: String,
    /// The fingerprint of the certificate of `--lan`.
    pub fingerprint: Option<String>,
}

/// Serves until `stop` resolves or a part of the hub fails for good, then drains and returns. The error of a failed part
/// is `FailedForGood`.
pub async fn run(options: ServeOptions, stop: impl Future<Output = ()>) -> anyhow::Result<()> {
    let data = DataDir::open(&options.data)?;
    let acceptor = Acceptor::from_config(&options.config)?;
    let lan = LanListener::open(&options).await?;
    let mut stop = pin!(stop);
    let opening = open_store(&options.config, &data, options.accept_data_loss);
    let store = tokio::select! {
        opened = opening => Arc::new(opened.context("cannot open the database")?),
        // The database may keep the hub waiting.
        () = &mut stop => return Ok(()),
    };
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
    let background = tasks::start(&hub);
    let front = Front {
        router: routes::router(Arc::clone(&hub), options.pages),
        hosts: Arc::new(AllowedHosts::from_config(&hub.config)),
        has_tls: hub.config.tls.is_some(),
        metrics: Arc::clone(&hub.metrics),
        proxies: Arc::new(hub.config.trusted_proxies.clone()),
        is_from_proxy: false,
    };
    let greeting = Greeting {
        browser_url: hub.process.browser_url().to_owned(),
        fingerprint: lan.as_ref().map(|lan| lan.fingerprint.clone()),
        local_url: welcome.local_url,
        sign_in_url: welcome.sign_in_url,
    };
    let serving = start_accepting(&hub, (acceptor, listener), lan, front);
    print(&(options.greet)(&greeting));
    let failure = stop_or_failure(&hub, stop).await;
    print("Shutting down: releasing waiting agents, finishing open requests.\n");
    data.withdraw();
    // Fails only when no receiver is left.
    let _ = stop_sender.send(true);
    let drained = timeout(DRAIN_TIMEOUT, drain(&hub, serving, background)).await;
    match failure {
        Some(failure) => Err(failure.into()),
        None => drained.context("the hub did not finish its open work in time")?,
    }
}

/// The second listener, for phones in the same network.
struct LanListener {
    acceptor: Acceptor,
    listener: TcpListener,
    fingerprint: String,
}

impl LanListener {
    /// `None` without `--lan`.
    async fn open(options: &ServeOptions) -> anyhow::Result<Option<Self>> {
        let Some(address) = options.config.lan else {
            return Ok(None);
        };
        let certificate = LanCertificate::open(&options.data, address.ip(), SystemClock.now())?;
        let listener = TcpListener::bind(address).await;
        Ok(Some(Self {
            acceptor: Acceptor::with_tls(&certificate.files)?,
            listener: listener.with_context(|| format!("--lan cannot listen on {address}"))?,
            fingerprint: certificate.fingerprint,
        }))
    }
}

fn start_accepting(
    hub: &Arc<Hub>,
    (acceptor, listener): (Acceptor, TcpListener),
    lan: Option<LanListener>,
    front: Front,
) -> JoinHandle<()> {
    let on_lan = OptionFuture::from(lan.map(|lan| {
        let front = Front {
            has_tls: true,
            ..front.clone()
        };
        accept_connections(Arc::clone(hub), lan.acceptor, lan.listener, front)
    }));
    let main = accept_connections(Arc::clone(hub), acceptor, listener, front);
    tokio::spawn(async move {
        tokio::join!(main, on_lan);
    })
}

/// Returns the part of the hub that failed, or `None` for a stop.
async fn stop_or_failure(hub: &Hub, stop: impl Future<Output = ()>) -> Option<FailedForGood> {
    let failure = tokio::select! {
        () = stop => return None,
        failure = hub.process.tasks.failed() => failure,
        () = hub.store.writer_ended() => FailedForGood("the writer thread of the store"),
    };
    tracing::error!(part = failure.0, "a part of the hub failed for good; stopping");
    Some(failure)
}

async fn accept_connections(hub: Arc<Hub>, acceptor: Acceptor, listener: TcpListener, front: Front) {
    let stopping = hub.process.stopping.clone();
    let served = AssertUnwindSafe(acceptor.serve(listener, front, stopping, SHUTDOWN_GRACE)).catch_unwind();
    if served.await.is_err() {
        hub.process.tasks.set_failed("the listener");
    }
}

/// Finishes open work and stores the state that is only in memory.
async fn drain(hub: &Arc<Hub>, serving: JoinHandle<()>, mut background: JoinSet<()>) -> anyhow::Result<()> {
    let pushes = hub.outbox.stop(SHUTDOWN_GRACE);
    let (served, (), ()) = tokio::join!(serving, pushes, hub.runs.stop_runs());
    hub.cluster.flush().await;
    background.shutdown().await;
    flush_in_memory_state(hub).await;
    if let Err(error) = node::leave(hub).await {
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

async fn open_store(config: &Config, data: &DataDir, accept_data_loss: bool) -> anyhow::Result<Store> {
    match &config.database_url {
        Some(_) if accept_data_loss => bail!("--accept-data-loss is for hub.db; this hub has a database_url"),
        Some(url) => database::open(url.reveal(), config.wait_for_database).await,
        None if accept_data_loss => open_after_loss(data).await,
        None => Ok(Store::open_sqlite(&data.database(), Arc::new(SystemClock))?),
    }
}

/// Opens a store that may have lost entries. The loss is logged and stands in the audit trail.
async fn open_after_loss(data: &DataDir) -> anyhow::Result<Store> {
    let (store, loss) = Store::open_sqlite_after_loss(&data.database(), Arc::new(SystemClock))?;
    if let Some(loss) = loss {
        tracing::warn!(%loss, "data loss accepted");
        let actor = HUB_ACTOR.to_owned();
        store.run(RecordDataLoss { actor }).await?;
    }
    Ok(store)
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
            ));
            free
        }
        bound => bound.with_context(|| format!("cannot listen on {wanted}"))?,
    };
    let address = listener.local_addr()?;
    Ok((listener, address))
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use super::*;
    use crate::testing;

    #[tokio::test]
    async fn failed_task_ends_the_hub_and_a_stop_does_too() {
        let hub = testing::hub();
        assert_eq!(stop_or_failure(&hub, ready(())).await, None);
        hub.process.tasks.set_failed("expiry");
        assert_eq!(stop_or_failure(&hub, pending()).await, Some(FailedForGood("expiry")));
    }
}
