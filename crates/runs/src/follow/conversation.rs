//! The conversation of a run, rebuilt from stored records and inputs.

use std::collections::HashSet;

use countersign_protocol::runs::{Conversation, Record, RunInput, RunReply};

use crate::engine::plan::RunPlan;

/// Drops references to records that retention has removed.
pub fn conversation(records: &[String], inputs: Vec<RunInput>) -> Conversation {
    let records: Vec<Record> = records
        .iter()
        .filter_map(|text| serde_json::from_str(text).ok())
        .collect();
    let known: HashSet<&str> = records.iter().map(|record| record.id.as_str()).collect();
    let named = |input: RunInput| RunInput {
        before_record_id: input.before_record_id.filter(|id| known.contains(id.as_str())),
        text: input.text,
    };
    let inputs = inputs.into_iter().map(named).collect();
    Conversation { inputs, records }
}

pub fn run_prepared(run_id: &str, plan: &RunPlan, conversation: Conversation) -> RunReply {
    RunReply::RunPrepared {
        run_id: run_id.to_owned(),
        strategy_name: plan.strategy.name.clone(),
        agents: plan.strategy.agent_names(),
        flow_tree: plan.strategy.flow_tree.clone(),
        conversation,
    }
}
