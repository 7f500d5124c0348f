//! Taking pushes in, and letting what is under way end.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::Stops;
use super::delivery::Receiver;
use crate::screen;

/// A hub pushes to one receiver over few connections; more come from somebody else.
const MOST_CONNECTIONS: usize = 256;
const REQUEST_HEAD: Duration = Duration::from_secs(10);
/// When the system has no more file descriptors, trying again at once would only burn the processor.
const OUT_OF_DESCRIPTORS: Duration = Duration::from_millis(100);

/// Returns once it was told to stop and no command runs any more.
pub async fn serve(listener: TcpListener, receiver: Arc<Receiver>, mut stops: Stops) {
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let graceful = GracefulShutdown::new();
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(REQUEST_HEAD);
    loop {
        let accepted = tokio::select! {
            accepted = accept(&listener, &places) => accepted,
            _ = stops.wait_for(|stops| *stops > 0) => break,
        };
        let Some((stream, place)) = accepted else { continue };
        let receiver = Arc::clone(&receiver);
        let service = service_fn(move |request| {
            let receiver = Arc::clone(&receiver);
            async move { Ok::<_, Infallible>(receiver.take(request).await.into_response()) }
        });
        let connection = graceful.watch(http.serve_connection(TokioIo::new(stream), service));
        tokio::spawn(async move {
            drop(connection.await);
            drop(place);
        });
    }
    drop(listener);
    receiver.idle().await;
    graceful.shutdown().await;
}

async fn accept(listener: &TcpListener, places: &Arc<Semaphore>) -> Option<(TcpStream, OwnedSemaphorePermit)> {
    let place = Arc::clone(places).acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, _)) => Some((stream, place)),
        Err(error) => {
            screen::remark(&format!("a connection could not be accepted: {error}"));
            tokio::time::sleep(OUT_OF_DESCRIPTORS).await;
            None
        }
    }
}
