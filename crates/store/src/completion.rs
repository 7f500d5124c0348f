//! Cancellation-safe work: a future that keeps running after its caller is dropped.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;

/// Awaits the future in place, which is cheaper than spawning a task. If dropped before completion, the rest is
/// spawned.
pub fn run_to_completion<F>(work: F) -> impl Future<Output = F::Output> + Send
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    RunToCompletion {
        work: Some(Box::pin(work)),
    }
}

struct RunToCompletion<F>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    /// `None` after completion.
    work: Option<Pin<Box<F>>>,
}

impl<F> Future for RunToCompletion<F>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let Some(work) = &mut self.work else {
            return Poll::Pending;
        };
        let output = ready!(work.as_mut().poll(cx));
        self.work = None;
        Poll::Ready(output)
    }
}

impl<F> Drop for RunToCompletion<F>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    fn drop(&mut self) {
        // Without a runtime there is no executor to continue on.
        if let (Some(work), Ok(runtime)) = (self.work.take(), tokio::runtime::Handle::try_current()) {
            // Type-erased: the code of a task would otherwise be compiled for each kind of work.
            let rest: BoxFuture<'static, ()> = Box::pin(work.map(drop));
            runtime.spawn(rest);
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn awaited_work_returns_its_output() {
        assert_eq!(run_to_completion(async { 7 }).await, 7);
    }

    #[tokio::test]
    async fn dropped_caller_does_not_stop_the_work() {
        let (go, gone) = oneshot::channel::<()>();
        let (done, ended) = oneshot::channel();
        let mut work = Box::pin(run_to_completion(async move {
            gone.await.unwrap();
            done.send(7).unwrap();
        }));
        assert!(work.as_mut().now_or_never().is_none(), "it has begun and waits");
        drop(work);
        go.send(()).unwrap();
        assert_eq!(ended.await, Ok(7));
    }

    #[tokio::test]
    async fn never_polled_work_still_runs() {
        let (done, ended) = oneshot::channel();
        drop(run_to_completion(async move { done.send(7).unwrap() }));
        assert_eq!(ended.await, Ok(7));
    }
}
