//! What a socket has taken in of a message that is not complete. It is put together out of sight, so the connection underneath
//! counts: a little is free, and beyond that it reads on only with a place in the room.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use axum::http::Request;

use crate::problem::Problem;
use crate::room::{Hold, Room};

const FREE: usize = 64 * 1024;
/// Of a frame that is no message, before its payload.
const CONTROL_HEAD: usize = 6;

/// Of one connection.
#[derive(Clone, Default)]
pub struct Intake(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    /// Nothing while the connection is no socket.
    account: Option<Account>,
    taken: usize,
    place: Place,
}

struct Account {
    room: Arc<Room>,
    caller: String,
    largest_message: usize,
}

#[derive(Default)]
enum Place {
    #[default]
    NotNeeded,
    Waited(Pin<Box<dyn Future<Output = Result<Option<Hold>, Problem>> + Send>>),
    Taken {
        _hold: Option<Hold>,
    },
}

impl Intake {
    /// Only the socket of runs wants to know.
    pub fn mark<B>(&self, mut request: Request<B>) -> Request<B> {
        if request.uri().path() == "/ws" {
            request.extensions_mut().insert(self.clone());
        }
        request
    }

    /// From here on the connection is a socket.
    pub fn begin(&self, room: &Arc<Room>, caller: &str, largest_message: usize) {
        let room = Arc::clone(room);
        let caller = caller.to_owned();
        self.lock().account = Some(Account {
            room,
            caller,
            largest_message,
        });
    }

    /// Before more is read. Who gets no place in time is cut off.
    pub fn poll_place(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut state = self.lock();
        let Place::Waited(waited) = &mut state.place else {
            return Poll::Ready(Ok(()));
        };
        let Ok(_hold) = ready!(waited.as_mut().poll(cx)) else {
            return Poll::Ready(Err(io::Error::other("too much is being sent at once")));
        };
        state.place = Place::Taken { _hold };
        Poll::Ready(Ok(()))
    }

    pub fn took(&self, bytes: usize) {
        let mut state = self.lock();
        let State {
            account: Some(account),
            taken,
            place,
        } = &mut *state
        else {
            return;
        };
        *taken += bytes;
        if *taken > FREE && matches!(place, Place::NotNeeded) {
            *place = Place::Waited(account.place());
        }
    }

    /// A message was complete and has been dealt with.
    pub fn done(&self) {
        let mut state = self.lock();
        (state.taken, state.place) = (0, Place::NotNeeded);
    }

    /// Something came in between that is no message, and may come in the middle of one.
    pub fn passed_over(&self, payload: usize) {
        let mut state = self.lock();
        state.taken = state.taken.saturating_sub(CONTROL_HEAD + payload);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Account {
    fn place(&self) -> Pin<Box<dyn Future<Output = Result<Option<Hold>, Problem>> + Send>> {
        let room = Arc::clone(&self.room);
        let caller = self.caller.clone();
        let bytes = self.largest_message;
        Box::pin(async move { room.take(&caller, bytes).await })
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use futures_util::FutureExt;

    use super::*;

    const MIB: usize = 1024 * 1024;

    async fn place(intake: &Intake) -> io::Result<()> {
        poll_fn(|cx| intake.poll_place(cx)).await
    }

    fn socket(room: &Arc<Room>, caller: &str) -> Intake {
        let intake = Intake::default();
        intake.begin(room, caller, 16 * MIB);
        intake
    }

    #[tokio::test(start_paused = true)]
    async fn large_messages_that_are_never_complete_have_so_much_room_and_no_more() {
        let room = Arc::default();
        let sockets: Vec<Intake> = (0..3).map(|_| socket(&room, "alice")).collect();
        sockets.iter().for_each(|intake| intake.took(FREE + 1));
        assert!(place(&sockets[0]).await.is_ok() && place(&sockets[1]).await.is_ok());
        assert!(place(&sockets[2]).now_or_never().is_none(), "it is not read on");
        let other = socket(&room, "bob");
        other.took(FREE + 1);
        assert!(place(&other).await.is_ok(), "others have room of their own");
        sockets[0].done();
        assert!(place(&sockets[2]).await.is_ok(), "whoever is done makes room");
        sockets[0].took(FREE + 1);
        assert!(place(&sockets[0]).await.is_err(), "and nobody waits for ever");
    }

    #[tokio::test]
    async fn what_is_small_or_no_message_needs_no_place() {
        let room = Arc::default();
        let intake = socket(&room, "alice");
        for _ in 0..100_000 {
            intake.took(CONTROL_HEAD + 4);
            intake.passed_over(4);
        }
        intake.took(FREE);
        assert!(matches!(intake.lock().place, Place::NotNeeded));
        intake.passed_over(4);
        intake.took(CONTROL_HEAD + 5);
        assert!(
            matches!(intake.lock().place, Place::Waited(_)),
            "a ping in the middle does not make it another message"
        );
        let plain = Intake::default();
        plain.took(MIB);
        assert!(place(&plain).await.is_ok(), "requests are counted elsewhere");
    }
}
