//! Remote commands to a run that another node owns: stored as a row, announced on the bus, and answered by a signal.

use std::sync::Arc;
use std::time::Duration;

use countersign_protocol::runs::{self, ClientMessage, Received};
use countersign_store::StoreError;
use countersign_store::ops::run::{
    DeleteRunCommand, ReadRun, ReadRunCommands, RemoteCommand, SendRunCommand, StoredRunState,
};
use serde::{Deserialize, Serialize};
use tokio::time::timeout;

use crate::refusal::{RefusalText, RunRefusal};
use crate::service::RunService;

/// Leaves time for another node to take the run over.
const REPLY_TIMEOUT: Duration = Duration::from_secs(10);
/// An older command is discarded: its sender has given up and may have changed its mind.
const COMMAND_TTL: Duration = Duration::from_secs(30);
const POLL_INTERVAL: Duration = Duration::from_millis(50);
const MAX_POLLS: usize = 100;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommandReply {
    Done,
    Refused(RefusalText),
    #[serde(rename = "undone")]
    NotApplied,
}

/// Why a remote command was not applied, or why its result is unknown.
pub enum CommandFailure {
    Store(StoreError),
    NotApplied {
        run_id: String,
    },
    /// The command may have been applied or not.
    NoReply {
        run_id: String,
    },
}

impl From<StoreError> for CommandFailure {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

const NOT_APPLIED: &str =
    "the run is being taken over by another hub and was not ready in time; the command was not applied";
const NO_REPLY: &str = "the hub that owns the run did not reply within 10 s; the command may still apply";

impl From<CommandFailure> for RunRefusal {
    fn from(failure: CommandFailure) -> Self {
        match failure {
            CommandFailure::Store(error) => error.into(),
            CommandFailure::NotApplied { .. } => Self::Failed(NOT_APPLIED.to_owned()),
            CommandFailure::NoReply { .. } => Self::OutcomeUnknown(NO_REPLY.to_owned()),
        }
    }
}

impl RunService {
    /// Sends a client's message to the node that owns the run. Returns `None` if no node does.
    pub async fn send_run_command(
        self: &Arc<Self>,
        run_id: &str,
        message: &ClientMessage,
    ) -> Result<Option<CommandReply>, CommandFailure> {
        if !self.store.is_shared() {
            return Ok(None);
        }
        let body = serde_json::to_string(message).map_err(StoreError::from)?;
        let command = SendRunCommand {
            run_id: run_id.to_owned(),
            body,
        };
        let Some(number) = self.store.run(command).await? else {
            return Ok(None);
        };
        let reply = self.commands.expect_reply(number);
        self.host.command_stored();
        // This node may itself be taking the run over.
        process_pending(self);
        let run_id = run_id.to_owned();
        match timeout(REPLY_TIMEOUT, reply).await {
            Ok(Ok(CommandReply::NotApplied)) => Err(CommandFailure::NotApplied { run_id }),
            Ok(Ok(reply)) => Ok(Some(reply)),
            Ok(Err(_)) | Err(_) => Err(CommandFailure::NoReply { run_id }),
        }
    }
}

impl RunService {
    /// The reply to a command that this node sent.
    pub fn command_replied(&self, number: i64, reply: CommandReply) {
        self.commands.reply_arrived(number, reply);
    }

    pub fn process_commands(self: &Arc<Self>) {
        process_pending(self);
    }
}

/// Executes the stored commands for runs of this node: in order within a run, and concurrently across runs.
fn process_pending(service: &Arc<RunService>) {
    let service = Arc::clone(service);
    tokio::spawn(async move {
        let since = service.store.clock().now().minus(COMMAND_TTL);
        let commands = match service
            .store
            .run(ReadRunCommands {
                node: service.store.node(),
                since,
            })
            .await
        {
            Ok(commands) => commands,
            Err(error) => {
                let node = service.store.node();
                return tracing::warn!(node, %error, "reading remote run commands failed; retrying");
            }
        };
        let (late, commands): (Vec<_>, Vec<_>) = commands.into_iter().partition(|command| command.is_late);
        for run_id in service.commands.enqueue(commands) {
            tokio::spawn(process_queue(Arc::clone(&service), run_id));
        }
        for command in late {
            delete_command(&service, &command.run_id, command.number).await;
        }
    });
}

async fn process_queue(service: Arc<RunService>, run_id: String) {
    while let Some(command) = service.commands.next(&run_id) {
        let number = command.number;
        let reply = match locate_run(&service, &run_id).await {
            RunLocation::Here => execute(&service, command).await,
            RunLocation::Arriving => CommandReply::NotApplied,
            // Left for the node that owns the run now.
            RunLocation::Elsewhere => {
                service.commands.give_back(number);
                continue;
            }
        };
        delete_command(&service, &run_id, number).await;
        if !service.commands.reply_arrived(number, reply.clone()) {
            service.host.command_replied(number, reply);
        }
    }
}

/// A row that could not be deleted is not executed twice: it is remembered as handled until it is past its TTL.
async fn delete_command(service: &RunService, run_id: &str, number: i64) {
    if let Err(error) = service.store.run(DeleteRunCommand { number }).await {
        tracing::warn!(run_id, number, %error, "deleting a remote run command failed");
    }
}

enum RunLocation {
    /// Owned here, or ended: both are answered by this node.
    Here,
    Elsewhere,
    Arriving,
}

/// Polls, because a run that is being taken over belongs to this node shortly before it is in memory.
async fn locate_run(service: &RunService, run_id: &str) -> RunLocation {
    for _ in 0..MAX_POLLS {
        if service.is_active_here(run_id) {
            return RunLocation::Here;
        }
        match service
            .store
            .run(ReadRun {
                run_id: run_id.to_owned(),
            })
            .await
        {
            Ok(Some(run)) if run.summary.state == StoredRunState::Running && run.node == service.store.node() => {}
            Ok(Some(run)) if run.summary.state == StoredRunState::Running => return RunLocation::Elsewhere,
            Ok(Some(_) | None) => return RunLocation::Here,
            Err(error) => {
                let node = service.store.node();
                tracing::warn!(run_id, node, %error, "reading the owner of a run failed; retrying");
            }
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
    RunLocation::Arriving
}

async fn execute(service: &Arc<RunService>, command: RemoteCommand) -> CommandReply {
    let request = match runs::read(command.body.as_bytes()) {
        Ok(Received { message, .. }) => message,
        Err(refused) => return unreadable(service, command, &refused.message),
    };
    let done = match &request {
        ClientMessage::StopRun { run_id } => {
            service.stop_local_run(run_id).await;
            Ok(())
        }
        ClientMessage::SteerRun { run_id, text } => service.steer_local_run(run_id, text.clone()).await,
        ClientMessage::UpdatePolicy(change) => service.change_local_policy(change.clone()).await,
        _ => return unreadable(service, command, "not a command to a run"),
    };
    match done {
        Ok(()) => CommandReply::Done,
        Err(refusal) => CommandReply::Refused((service.refusal_text)(&request, refusal)),
    }
}

/// The sending node may run a newer version.
fn unreadable(service: &RunService, command: RemoteCommand, why: &str) -> CommandReply {
    let cause = format!("remote command {} cannot be read: {why}", command.number);
    let request = ClientMessage::StopRun { run_id: command.run_id };
    CommandReply::Refused((service.refusal_text)(&request, RunRefusal::Failed(cause)))
}
