//! The memory budget of an incomplete message on a socket. The WebSocket library buffers it out of our sight, so the
//! connection below counts bytes: the first ones are free, beyond that it reads on only with a permit of the memory
//! budget.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use axum::http::Request;

use crate::limits::memory_budget::{MemoryBudget, MemoryPermit};
use crate::problem::Problem;

const FREE_BYTES: usize = 64 * 1024;
/// Header of a control frame from a client: two bytes and the mask.
const CONTROL_FRAME_HEADER_BYTES: usize = 6;

/// The budget of one connection.
#[derive(Clone, Default)]
pub struct SocketBudget(Arc<Mutex<SocketUsage>>);

#[derive(Default)]
struct SocketUsage {
    /// `None` until the connection becomes a WebSocket.
    account: Option<Account>,
    unfinished_bytes: usize,
    permit: PermitState,
}

struct Account {
    memory_budget: Arc<MemoryBudget>,
    caller: String,
    max_message_bytes: usize,
}

#[derive(Default)]
enum PermitState {
    #[default]
    NotNeeded,
    Waiting(Pin<Box<dyn Future<Output = Result<Option<MemoryPermit>, Problem>> + Send>>),
    Held {
        _permit: Option<MemoryPermit>,
    },
}

impl SocketBudget {
    /// Adds the budget to the request, only for the run socket.
    pub fn attach_to<B>(&self, mut request: Request<B>) -> Request<B> {
        if request.uri().path() == "/ws" {
            request.extensions_mut().insert(self.clone());
        }
        request
    }

    /// Starts counting: the connection is a WebSocket from here on.
    pub fn begin(&self, memory_budget: &Arc<MemoryBudget>, caller: &str, max_message_bytes: usize) {
        let memory_budget = Arc::clone(memory_budget);
        let caller = caller.to_owned();
        self.lock().account = Some(Account {
            memory_budget,
            caller,
            max_message_bytes,
        });
    }

    /// Back-pressure before a read: waits for the permit, and fails the connection when it does not come in time.
    pub fn poll_permit(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut state = self.lock();
        let PermitState::Waiting(waiting) = &mut state.permit else {
            return Poll::Ready(Ok(()));
        };
        let Ok(_permit) = ready!(waiting.as_mut().poll(cx)) else {
            return Poll::Ready(Err(io::Error::other(
                "too many large messages at once; no memory permit in time",
            )));
        };
        state.permit = PermitState::Held { _permit };
        Poll::Ready(Ok(()))
    }

    pub fn add_read(&self, bytes: usize) {
        let mut state = self.lock();
        let SocketUsage {
            account: Some(account),
            unfinished_bytes,
            permit,
        } = &mut *state
        else {
            return;
        };
        *unfinished_bytes += bytes;
        if *unfinished_bytes > FREE_BYTES && matches!(permit, PermitState::NotNeeded) {
            *permit = PermitState::Waiting(account.permit());
        }
    }

    /// Call when a complete message has been handled.
    pub fn message_done(&self) {
        let mut state = self.lock();
        (state.unfinished_bytes, state.permit) = (0, PermitState::NotNeeded);
    }

    /// Uncounts a control frame, which may arrive in the middle of a message.
    pub fn skip_control_frame(&self, payload: usize) {
        let mut state = self.lock();
        state.unfinished_bytes = state
            .unfinished_bytes
            .saturating_sub(CONTROL_FRAME_HEADER_BYTES + payload);
    }

    fn lock(&self) -> MutexGuard<'_, SocketUsage> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Account {
    fn permit(&self) -> Pin<Box<dyn Future<Output = Result<Option<MemoryPermit>, Problem>> + Send>> {
        let memory_budget = Arc::clone(&self.memory_budget);
        let caller = self.caller.clone();
        let bytes = self.max_message_bytes;
        Box::pin(async move { memory_budget.acquire(&caller, bytes).await })
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

    fn socket(memory_budget: &Arc<MemoryBudget>, caller: &str) -> SocketBudget {
        let budget = SocketBudget::default();
        budget.begin(memory_budget, caller, 16 * MIB);
        budget
    }

    #[tokio::test(start_paused = true)]
    async fn incomplete_large_messages_are_bounded_per_caller() {
        let memory_budget = Arc::default();
        let sockets: Vec<SocketBudget> = (0..3).map(|_| socket(&memory_budget, "alice")).collect();
        sockets.iter().for_each(|budget| budget.add_read(FREE_BYTES + 1));
        assert!(permit(&sockets[0]).await.is_ok() && permit(&sockets[1]).await.is_ok());
        assert!(permit(&sockets[2]).now_or_never().is_none(), "reading stops");
        let other = socket(&memory_budget, "bob");
        other.add_read(FREE_BYTES + 1);
        assert!(permit(&other).await.is_ok(), "other callers have their own budget");
        sockets[0].message_done();
        assert!(permit(&sockets[2]).await.is_ok(), "a handled message frees its permit");
        sockets[0].add_read(FREE_BYTES + 1);
        assert!(permit(&sockets[0]).await.is_err(), "the wait for a permit is bounded");
    }

    #[tokio::test]
    async fn small_messages_and_control_frames_need_no_permit() {
        let memory_budget = Arc::default();
        let budget = socket(&memory_budget, "alice");
        for _ in 0..100_000 {
            budget.add_read(CONTROL_FRAME_HEADER_BYTES + 4);
            budget.skip_control_frame(4);
        }
        budget.add_read(FREE_BYTES);
        assert!(matches!(budget.lock().permit, PermitState::NotNeeded));
        budget.skip_control_frame(4);
        budget.add_read(CONTROL_FRAME_HEADER_BYTES + 5);
        assert!(
            matches!(budget.lock().permit, PermitState::Waiting(_)),
            "a ping in the middle does not reset the count"
        );
        let plain = SocketBudget::default();
        plain.add_read(MIB);
        assert!(
            permit(&plain).await.is_ok(),
            "plain HTTP requests are counted by their handlers"
        );
    }
}
