//! `task`: gives a person something to do.

use anyhow::Result;
use countersign_agent::{Addressed, Task};

use super::ask::sent;
use super::compose::content::{MAX_BODY_BYTES, identity, with_content, with_request};
use super::compose::input::Inputs;
use super::compose::resolvers::resolvers;
use super::credentials::session::{AgentSession, open_journal};
use super::follow::{OutcomeFollower, deadline};
use super::outcome::AskedQuestion;
use super::{now, send};
use crate::args::{Globals, TaskArgs};
use crate::commands::Finished;

pub async fn run(args: &TaskArgs, globals: &Globals) -> Result<Finished> {
    let deadline = deadline(args.request.timeout);
    let mut inputs = Inputs::default();
    let mut task = Task::new(&args.content.title, instructions(args, &mut inputs)?);
    if !args.checklist.is_empty() {
        task = task.checklist(args.checklist.iter().cloned());
    }
    if let Some(verification) = &args.verification {
        task = task.verification(verification);
    }
    let task = with_content!(task, &args.content, &mut inputs);
    let task = with_request!(task, &args.request, &mut inputs, now());
    let session = AgentSession::open(args.content.agent.as_deref(), globals).await?;
    let to = resolvers(&args.request.to, &session).await?;
    let task: Task<Addressed> = task.to(to.iter().cloned());
    let draft = task
        .draft(
            &identity(&args.content, &session),
            send::version(&session).await?,
            now(),
        )
        .map_err(send::name_option)?;
    let journal = open_journal(globals)?;
    let ticket = send::submit(&session, &journal, &draft, deadline).await?;
    let asked = AskedQuestion::Other;
    let exec = &args.request.exec;
    let follow = OutcomeFollower {
        session: &session,
        journal: &journal,
        ticket: &ticket,
        asked,
        deadline,
        exec,
        globals,
    };
    sent("Given to", &to, args.request.detach, follow).await
}

fn instructions(args: &TaskArgs, inputs: &mut Inputs) -> Result<String> {
    match &args.instructions_file {
        Some(source) => inputs.text("--instructions-file", source, MAX_BODY_BYTES),
        None => Ok(args.instructions.clone().unwrap_or_default()),
    }
}
