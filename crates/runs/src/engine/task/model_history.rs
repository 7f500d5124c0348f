//! Earlier records of the models of a run.

use std::collections::HashMap;

use countersign_protocol::runs::Record;
use countersign_store::ops::run::FindRun;

use crate::service::RunService;

/// Bounds per agent, as large as the prompt of a model can get.
const MAX_RECORDS: usize = 50;
const MAX_BYTES: usize = 256 * 1024;

pub struct ModelHistory {
    by_agent: HashMap<String, Vec<Record>>,
    /// The store has records that are not loaded. They are read lazily: most waiting runs never call a model.
    is_unread: bool,
}

impl ModelHistory {
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
        while records.len() > MAX_RECORDS || (records.len() > 1 && bytes(records) > MAX_BYTES) {
            records.remove(0);
        }
    }

    /// Oldest first.
    pub async fn of(&mut self, service: &RunService, run_id: &str, agent_name: &str) -> Vec<Record> {
        if self.is_unread {
            self.read(service, run_id).await;
        }
        self.by_agent.get(agent_name).cloned().unwrap_or_default()
    }

    /// A failed read is only logged: a model without its history is better than a stuck run.
    async fn read(&mut self, service: &RunService, run_id: &str) {
        match service
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
            Err(error) => {
                tracing::warn!(run_id, %error, "reading the history of a model failed; the call goes on without it")
            }
        }
    }
}

fn bytes(records: &[Record]) -> usize {
    let of = |record: &Record| {
        let text = record
            .response_messages
            .iter()
            .map(|message| message.content.len())
            .sum::<usize>();
        record.user_message.content.len() + text
    };
    records.iter().map(of).sum()
}
