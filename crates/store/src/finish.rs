//! Work that somebody waits for and that goes on when they do not any more.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// As good as awaiting the future itself, which costs less than a task of its own. Dropped in the middle, it becomes one.
pub fn to_the_end<F>(work: F) -> impl Future<Output = F::Output> + Send
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    ToTheEnd {
        work: Some(Box::pin(work)),
    }
}

struct ToTheEnd<F>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    /// Nothing once it has ended.
    work: Option<Pin<Box<F>>>,
}

impl<F> Future for ToTheEnd<F>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let Some(work) = &mut self.work else {
            return Poll::Pending;
        };
        let polled = work.as_mut().poll(cx);
        if polled.is_ready() {
            self.work = None;
        }
        polled
    }
}

impl<F> Drop for ToTheEnd<F>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    fn drop(&mut self) {
        // Without a runtime there is nobody to go on.
        if let (Some(work), Ok(runtime)) = (self.work.take(), tokio::runtime::Handle::try_current()) {
            runtime.spawn(work);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn whoever_stays_gets_the_outcome() {
        assert_eq!(to_the_end(async { 7 }).await, 7);
    }

    #[tokio::test]
    async fn whoever_leaves_in_the_middle_does_not_stop_it() {
        let (go, gone) = oneshot::channel::<()>();
        let (done, ended) = oneshot::channel();
        let mut work = Box::pin(to_the_end(async move {
            gone.await.unwrap();
            done.send(7).unwrap();
        }));
        assert!(work.as_mut().now_or_never().is_none(), "it has begun and waits");
        drop(work);
        go.send(()).unwrap();
        assert_eq!(ended.await, Ok(7));
    }

    #[tokio::test]
    async fn what_nobody_ever_waited_for_is_done_all_the_same() {
        let (done, ended) = oneshot::channel();
        drop(to_the_end(async move { done.send(7).unwrap() }));
        assert_eq!(ended.await, Ok(7));
    }
}
