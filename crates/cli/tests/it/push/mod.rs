//! Bringing an answer to an agent that is not waiting for it.

mod credentials;
mod delivery;
mod guard;
mod restart;
mod signatures;

use crate::harness::{Agent, Hub, Receiver, Setup};

/// A hub that pushes to this machine, a receiver, and an agent that may push there.
async fn stage() -> (Hub, Receiver, Agent) {
    let hub = Setup::pushing().start().await;
    let receiver = Receiver::start().await;
    let bot = hub.agent("bot").await;
    hub.approve(&bot, &receiver.host()).await;
    (hub, receiver, bot)
}
