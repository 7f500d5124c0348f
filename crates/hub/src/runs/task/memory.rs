//! What the models of a run have heard and said before.

use std::collections::HashMap;

use countersign_protocol::runs::Record;
use countersign_store::ops::run::FindRun;

use crate::app::Hub;

/// Of one agent; no model is told more.
const MOST_RECORDS: usize = 50;
const MOST_BYTES: usize = 256 * 1024;

pub struct Memory {
    by_agent: HashMap<String, Vec<Record>>,
    /// The store has more than is here. It is read when a model is first called, which most runs that wait never do.
    is_unread: bool,
}

impl Memory {
    pub fn empty() -> Self {
        Self {
            by_agent: HashMap::new(),
            is_unread: false,
        }
    }

    pub fn unread() -> Self {
        Self {
            is_unread: true,
            ..Self::empty()
        }
    }

    pub fn add(&mut self, record: Record) {
        let records = self.by_agent.entry(record.agent_name.clone()).or_default();
        records.push(record);
        while records.len() > MOST_RECORDS || (records.len() > 1 && bytes(records) > MOST_BYTES) {
            records.remove(0);
        }
    }

    /// Oldest first.
    pub async fn of(&mut self, hub: &Hub, run_id: &str, agent_name: &str) -> Vec<Record> {
        if self.is_unread {
            self.read(hub, run_id).await;
        }
        self.by_agent.get(agent_name).cloned().unwrap_or_default()
    }

    /// A model that has forgotten is better than a run that cannot go on.
    async fn read(&mut self, hub: &Hub, run_id: &str) {
        match hub
            .store
            .run(FindRun {
                run_id: run_id.to_owned(),
            })
            .await
        {
            Ok(found) => {
                let since = std::mem::take(&mut self.by_agent);
                let stored = found.into_iter().flat_map(|found| found.records);
                let stored = stored.filter_map(|text| serde_json::from_str::<Record>(&text).ok());
                stored.for_each(|record| self.add(record));
                for record in since.into_values().flatten() {
                    let known = self.by_agent.get(&record.agent_name);
                    if !known.is_some_and(|known| known.iter().any(|known| known.id == record.id)) {
                        self.add(record);
                    }
                }
                self.is_unread = false;
            }
            Err(error) => tracing::warn!(run_id, %error, "what a model said before could not be read"),
        }
    }
}

fn bytes(records: &[Record]) -> usize {
    let of = |record: &Record| {
        let said = record
            .response_messages
            .iter()
            .map(|message| message.content.len())
            .sum::<usize>();
        record.user_message.content.len() + said
    };
    records.iter().map(of).sum()
}
