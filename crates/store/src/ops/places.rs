//! The places that open messages take: one of their agent's each, and a cue one of its person's too.
//!
//! Whoever gives places back holds agents first, then people, then what removed agents left open, and each of these in one
//! order: so no two ever wait for each other.

use std::collections::BTreeMap;

use countersign_core::message::{Door, Message};

use super::{left_open, terminal};
use crate::error::StoreError;
use crate::exec::{BatchStatement, Exec};

/// Of the agent ?1, as many as ?2.
pub const RELEASE: &str = "UPDATE agent SET open = open - ?2 WHERE id = ?1";

/// What one that is no longer open still has to give back, once its agent has been asked to count it no more.
pub async fn release_rest<X: Exec>(x: &mut X, message: &Message, was_counted: bool) -> Result<(), StoreError> {
    if message.source.door == Door::Hap {
        terminal::release(x, &message.content.agent.id, 1).await?;
    }
    left_open::add(x, if was_counted { 0 } else { -1 }).await
}

/// The places of many, to be given back together.
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
        slots.cues += i64::from(message.source.door == Door::Hap);
    }

    /// At the end of a transaction: from here on, everybody else who acts for these agents waits for it.
    pub async fn release<X: Exec>(&self, x: &mut X) -> Result<(), StoreError> {
        let params: Vec<_> = self
            .0
            .iter()
            .map(|(id, slots)| [id.into(), slots.open.into()])
            .collect();
        let steps: Vec<_> = params
            .iter()
            .map(|params| BatchStatement {
                sql: RELEASE,
                params,
                into: None,
            })
            .collect();
        let counted = x.batch(&steps).await?;
        let uncounted = self.0.values().zip(counted).filter(|(_, counted)| *counted == 0);
        let left: i64 = uncounted.map(|(slots, _)| slots.open).sum();
        self.release_cues(x).await?;
        left_open::add(x, -left).await
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
