//! Pushing an answer to an agent that does not wait for it.

mod credentials;
mod delivery;
mod guard;
mod restart;
mod rotation;
mod signatures;

use crate::harness::{Agent, Hub, Receiver, Setup};

/// A hub that may push to this machine, a receiver, and an agent with that callback host approved.
async fn stage() -> (Hub, Receiver, Agent) {
    let hub = Setup::pushing().start().await;
    let receiver = Receiver::start().await;
    let bot = hub.agent("bot").await;
    hub.approve(&bot, &receiver.host()).await;
    (hub, receiver, bot)
}
