//! The quota of open messages: each takes one slot of its agent, and a cue also one of its person.
//!
//! Releasing slots locks agents first, then people, then the orphan count, and each of these in one order, so that no
//! two transactions deadlock.

use std::collections::BTreeMap;

use countersign_core::message::{Door, Message};

use crate::error::StoreError;
use crate::exec::{BatchStatement, Exec};
use crate::ops::terminal;

/// Releases ?2 slots of the agent ?1.
pub const RELEASE: &str = "UPDATE agent SET open = open - ?2 WHERE id = ?1";

/// Counts open messages without an agent row: those of removed agents, which are still to be decided, and those of runs.
pub async fn add_orphans<X: Exec>(x: &mut X, count: i64) -> Result<(), StoreError> {
    const ADD: &str = "INSERT INTO setting (name, value) VALUES ('left_open', CAST(CAST(?1 AS BIGINT) AS TEXT)) \
         ON CONFLICT (name) DO UPDATE SET value = CAST(CAST(setting.value AS BIGINT) + CAST(?1 AS BIGINT) AS TEXT)";
    x.exec(ADD, &[count.into()]).await.map(drop)
}

/// The count never goes below zero: messages left before it existed are decided too.
pub async fn release_orphans<X: Exec>(x: &mut X, count: i64) -> Result<(), StoreError> {
    const SUBTRACT: &str = "UPDATE setting SET value = CASE WHEN CAST(value AS BIGINT) > ?1 \
         THEN CAST(CAST(value AS BIGINT) - ?1 AS TEXT) ELSE '0' END WHERE name = 'left_open'";
    x.exec(SUBTRACT, &[count.into()]).await.map(drop)
}

/// The slots of many messages, released together.
#[derive(Default)]
pub struct ReleasedSlots(BTreeMap<String, SlotCount>);

#[derive(Default)]
struct SlotCount {
    open: i64,
    cues: i64,
}

impl ReleasedSlots {
    pub fn add(&mut self, message: &Message) {
        let slots = self.0.entry(message.content.agent.id.clone()).or_default();
        slots.open += 1;
        slots.cues += i64::from(message.source.door() == Door::Hap);
    }

    /// Call it at the end of a transaction: from here on, other transactions on these agents wait.
    pub async fn release<X: Exec>(&self, x: &mut X) -> Result<(), StoreError> {
        let params: Vec<_> = self
            .0
            .iter()
            .map(|(id, slots)| [id.into(), slots.open.into()])
            .collect();
        let steps: Vec<_> = params
            .iter()
            .map(|params| BatchStatement::change(RELEASE, params))
            .collect();
        let counted = x.batch(&steps).await?;
        let uncounted = self.0.values().zip(counted).filter(|(_, counted)| *counted == 0);
        let left: i64 = uncounted.map(|(slots, _)| slots.open).sum();
        self.release_cues(x).await?;
        if left > 0 {
            release_orphans(x, left).await?;
        }
        Ok(())
    }

    async fn release_cues<X: Exec>(&self, x: &mut X) -> Result<(), StoreError> {
        let mut by_person = Vec::new();
        for (agent_id, slots) in self.0.iter().filter(|(_, slots)| slots.cues > 0) {
            by_person.push((terminal::person_of(x, agent_id).await?, agent_id, slots.cues));
        }
        by_person.sort_unstable();
        for (_, agent_id, cues) in by_person {
            terminal::release(x, agent_id, cues).await?;
        }
        Ok(())
    }
}
