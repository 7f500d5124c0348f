//! The memory budget of the messages on one WebSocket. A long message gets its permit before the WebSocket library sees
//! any of it, and keeps it until it has been handled.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use crate::limits::memory_budget::{MemoryBudget, MemoryPermit};
use crate::problem::Problem;

#[derive(Clone)]
pub struct SocketBudget(Arc<Mutex<SocketUsage>>);

struct SocketUsage {
    memory_budget: Arc<MemoryBudget>,
    caller: String,
    /// Of the message that is arriving.
    arriving: PermitState,
    /// Of the last complete message, until it has been handled. The next one may begin to arrive before that.
    complete: PermitState,
}

#[derive(Default)]
enum PermitState {
    #[default]
    NotNeeded,
    Waiting(Pin<Box<dyn Future<Output = Result<MemoryPermit, Problem>> + Send>>),
    Held {
        _permit: MemoryPermit,
    },
}

impl SocketBudget {
    pub fn new(memory_budget: &Arc<MemoryBudget>, caller: &str) -> Self {
        Self(Arc::new(Mutex::new(SocketUsage {
            memory_budget: Arc::clone(memory_budget),
            caller: caller.to_owned(),
            arriving: PermitState::NotNeeded,
            complete: PermitState::NotNeeded,
        })))
    }

    /// Asks for a permit for the arriving message, unless it has one.
    pub fn request(&self, bytes: usize) {
        let mut usage = self.lock();
        if matches!(usage.arriving, PermitState::NotNeeded) {
            let memory_budget = Arc::clone(&usage.memory_budget);
            let caller = usage.caller.clone();
            usage.arriving = PermitState::Waiting(Box::pin(async move { memory_budget.reserve(&caller, bytes).await }));
        }
    }

    /// Back-pressure before a read: waits for a requested permit, and fails the connection when it does not come in time.
    pub fn poll_permit(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut usage = self.lock();
        let PermitState::Waiting(waiting) = &mut usage.arriving else {
            return Poll::Ready(Ok(()));
        };
        let Ok(_permit) = ready!(waiting.as_mut().poll(cx)) else {
            return Poll::Ready(Err(io::Error::other(
                "too many large messages at once; no memory permit in time",
            )));
        };
        usage.arriving = PermitState::Held { _permit };
        Poll::Ready(Ok(()))
    }

    /// Call when the last byte of a message has arrived.
    pub fn message_complete(&self) {
        let mut usage = self.lock();
        usage.complete = std::mem::take(&mut usage.arriving);
    }

    /// Call when a complete message has been handled.
    pub fn message_done(&self) {
        self.lock().complete = PermitState::NotNeeded;
    }

    fn lock(&self) -> MutexGuard<'_, SocketUsage> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use futures_util::FutureExt;

    use super::*;

    const MIB: usize = 1024 * 1024;

    async fn permit(budget: &SocketBudget) -> io::Result<()> {
        poll_fn(|cx| budget.poll_permit(cx)).await
    }

    #[tokio::test(start_paused = true)]
    async fn incomplete_large_messages_are_bounded_per_caller() {
        let memory_budget = Arc::default();
        let sockets: Vec<SocketBudget> = (0..3).map(|_| SocketBudget::new(&memory_budget, "alice")).collect();
        sockets.iter().for_each(|budget| budget.request(16 * MIB));
        assert!(permit(&sockets[0]).await.is_ok() && permit(&sockets[1]).await.is_ok());
        assert!(permit(&sockets[2]).now_or_never().is_none(), "reading stops");
        let other = SocketBudget::new(&memory_budget, "bob");
        other.request(16 * MIB);
        assert!(permit(&other).await.is_ok(), "other callers have their own budget");
        sockets[0].message_complete();
        assert!(
            permit(&sockets[2]).now_or_never().is_none(),
            "a complete message is in memory"
        );
        sockets[0].message_done();
        assert!(permit(&sockets[2]).await.is_ok(), "a handled message frees its permit");
        sockets[0].request(16 * MIB);
        assert!(permit(&sockets[0]).await.is_err(), "the wait for a permit is bounded");
    }

    #[tokio::test]
    async fn a_message_may_arrive_while_the_one_before_is_handled() {
        let memory_budget = Arc::default();
        let budget = SocketBudget::new(&memory_budget, "alice");
        budget.request(16 * MIB);
        permit(&budget).await.unwrap();
        budget.request(16 * MIB);
        budget.message_complete();
        budget.request(16 * MIB);
        permit(&budget).await.unwrap();
        budget.message_done();
        let other = SocketBudget::new(&memory_budget, "alice");
        other.request(17 * MIB);
        assert!(
            permit(&other).now_or_never().is_none(),
            "the second one keeps its permit"
        );
        budget.message_complete();
        budget.message_done();
        assert!(permit(&other).await.is_ok());
    }
}
