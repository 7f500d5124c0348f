//! Accepts pushes, and shuts down gracefully.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use countersign_client::screen;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::StopCount;
use super::receiver::PushReceiver;

/// A hub pushes over a few connections; more than this come from another source.
const MAX_CONNECTIONS: usize = 256;
const HEADER_READ_TIMEOUT: Duration = Duration::from_secs(10);
/// The delay after running out of file descriptors, to avoid a busy loop.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(100);

/// Returns after a stop signal, once no command is running.
pub async fn serve(listener: TcpListener, receiver: Arc<PushReceiver>, mut stop_count: StopCount) {
    let slots = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let graceful = GracefulShutdown::new();
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEADER_READ_TIMEOUT);
    loop {
        let accepted = tokio::select! {
            accepted = accept(&listener, &slots) => accepted,
            _ = stop_count.wait_for(|stop_count| *stop_count > 0) => break,
        };
        let Some((stream, slot)) = accepted else { continue };
        let receiver = Arc::clone(&receiver);
        let service = service_fn(move |request| {
            let receiver = Arc::clone(&receiver);
            async move { Ok::<_, Infallible>(receiver.take(request).await.into_response()) }
        });
        let connection = graceful.watch(http.serve_connection(TokioIo::new(stream), service));
        tokio::spawn(async move {
            drop(connection.await);
            drop(slot);
        });
    }
    drop(listener);
    receiver.idle().await;
    graceful.shutdown().await;
}

async fn accept(listener: &TcpListener, slots: &Arc<Semaphore>) -> Option<(TcpStream, OwnedSemaphorePermit)> {
    let slot = Arc::clone(slots).acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, _)) => Some((stream, slot)),
        Err(error) => {
            screen::print_notice(&format!("accepting a connection failed: {error}"));
            tokio::time::sleep(ACCEPT_RETRY_DELAY).await;
            None
        }
    }
}
