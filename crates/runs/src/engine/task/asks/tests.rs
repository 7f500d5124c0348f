use std::cell::Cell;

use countersign_core::Actor;
use countersign_core::message::{Outcome, RunSource, Source};
use countersign_protocol::id::ResolutionId;
use countersign_protocol::time::Timestamp;
use futures_util::FutureExt;
use tokio::time::timeout;

use super::*;

fn cancelled(id: &MessageId) -> Lookup<AgentView> {
    let now = Timestamp::from_millis(1);
    let resolution = Resolution {
        id: ResolutionId::from_uuid(Uuid::from_u128(8)),
        outcome: Outcome::Cancelled,
        value: None,
        actor: Actor::human("owner"),
        comment: None,
        resolved_at: now,
        defaulted: false,
        files: Vec::new(),
        edited: false,
        checklist: None,
    };
    Lookup::Present(AgentView {
        id: id.clone(),
        agent_id: "run".to_owned(),
        rev: 2,
        received_at: now,
        expires_at: None,
        state: State::Resolved(resolution),
        source: Source::Runs(RunSource::default()),
        wire: "{}".to_owned(),
    })
}

#[tokio::test(start_paused = true)]
async fn a_dropped_read_is_repeated_at_once() {
    let waiters = Arc::new(Waiters::default());
    let id = MessageId::from_uuid(Uuid::from_u128(7));
    let mut waiting = PendingAnswer::new(&waiters, id.clone(), AskBody::default());
    let reads = Cell::new(0);
    let pull = async |id: MessageId| {
        reads.set(reads.get() + 1);
        tokio::task::yield_now().await;
        Ok(Some(cancelled(&id)))
    };
    waiters.invalidate(&id);
    // As when a command interrupts the wait.
    assert!(waiting.resolution("r", &waiters, &pull).now_or_never().is_none());
    let resolution = timeout(Duration::from_secs(1), waiting.resolution("r", &waiters, &pull)).await;
    assert_eq!(
        resolution.expect("read without another wake-up").outcome,
        Outcome::Cancelled
    );
    assert_eq!(reads.get(), 2);
}

#[tokio::test(start_paused = true)]
async fn an_ask_without_a_wake_up_is_polled() {
    let waiters = Arc::new(Waiters::default());
    let id = MessageId::from_uuid(Uuid::from_u128(7));
    let mut waiting = PendingAnswer::new(&waiters, id, AskBody::default());
    let pull = async |id: MessageId| Ok(Some(cancelled(&id)));
    let resolution = timeout(Duration::from_secs(36), waiting.resolution("r", &waiters, &pull)).await;
    assert_eq!(resolution.expect("polled").outcome, Outcome::Cancelled);
}
