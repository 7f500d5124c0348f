//! `journal`: the messages sent from this machine and the outcomes acted on.

use anyhow::Result;
use countersign_agent::{Action, ActionState, Journal};
use countersign_client::screen::{self, TextTable, escape};
use serde_json::json;

use super::credentials::session::open_journal;
use crate::args::{Globals, JournalArgs, JournalCommand};
use crate::commands::Finished;

pub fn run(args: JournalArgs, globals: &Globals) -> Result<Finished> {
    let journal = open_journal(globals)?;
    match args.command.unwrap_or_else(JournalCommand::list) {
        JournalCommand::List { limit } => list(&journal, limit, globals.json),
        JournalCommand::Forget { id } => forget(&journal, &id, globals.json),
    }
}

fn list(journal: &Journal, limit: usize, json: bool) -> Result<Finished> {
    let tickets = journal.tickets(limit)?;
    let actions = journal.actions(limit)?;
    if json {
        return Ok(Finished::ok(screen::json(
            &json!({ "tickets": tickets, "acts": actions }),
        )));
    }
    let mut sent = TextTable::new(&["SENT", "MESSAGE", "AGENT", "KEY"]);
    for ticket in tickets {
        let id = ticket.message_id.unwrap_or_else(|| "not accepted yet".to_owned());
        sent.row([ticket.kind.to_string(), id, ticket.agent_id, ticket.idempotency_key]);
    }
    let mut acted = TextTable::new(&["ACTED ON", "RESOLUTION", "STATE", "BEGUN", "ENDED"]);
    for action in actions {
        let ended = action.ended_at.map(|at| at.to_string()).unwrap_or_default();
        let state = state(&action).to_owned();
        let begun = action.begun_at.to_string();
        acted.row([action.message_id, action.resolution_id, state, begun, ended]);
    }
    let sent = sent.render_or("Nothing was sent from here.");
    let acted = acted.render_or("Nothing was acted on.");
    Ok(Finished::ok(format!("{sent}\n{acted}")))
}

fn state(action: &Action) -> &'static str {
    match action.state {
        ActionState::Done => "done",
        ActionState::Failed => "failed",
        ActionState::Reserved if action.under_way => "under way",
        ActionState::Reserved => "interrupted",
    }
}

fn forget(journal: &Journal, id: &str, json: bool) -> Result<Finished> {
    let forgotten = journal.forget(id)?;
    if !forgotten {
        anyhow::bail!("nothing was acted on for {id}; `countersign journal` lists what was");
    }
    let text = format!("{} may be acted on again.\n", escape(id));
    Ok(Finished::ok(if json {
        screen::json(&json!({ "id": id, "forgotten": true }))
    } else {
        text
    }))
}
