//! Remote commands to a run that another hub owns: stored as a row, announced on the bus, and answered by a signal.

use std::sync::Arc;
use std::time::Duration;

use countersign_protocol::runs::{self, ClientMessage};
use countersign_store::StoreError;
use countersign_store::ops::run::{
    DeleteRunCommand, ReadRun, ReadRunCommands, RemoteCommand, SendRunCommand, StoredRunState,
};
use serde::{Deserialize, Serialize};
use tokio::time::timeout;
use uuid::Uuid;

use super::signal::Signal;
use crate::app::Hub;
use crate::problem::Problem;
use crate::runs::RunRefusal;

/// Leaves time for another hub to take the run over.
const REPLY_TIMEOUT: Duration = Duration::from_secs(10);
/// An older command is discarded: its sender has given up and may have changed its mind.
const COMMAND_TTL: Duration = Duration::from_secs(30);
const POLL_INTERVAL: Duration = Duration::from_millis(50);
const MAX_POLLS: usize = 100;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommandReply {
    Done,
    Refused {
        code: String,
        message: String,
    },
    /// Not applied, and it will not be.
    Undone,
}

/// Why a remote command was not applied, or why its result is unknown.
pub enum CommandFailure {
    Store(StoreError),
    NotApplied,
    /// The command may have been applied or not.
    NoReply,
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
            CommandFailure::NotApplied => Self::internal(&NOT_APPLIED),
            CommandFailure::NoReply => Self::unsure(&NO_REPLY),
        }
    }
}

impl From<CommandFailure> for Problem {
    fn from(failure: CommandFailure) -> Self {
        let id = Uuid::new_v4();
        match failure {
            CommandFailure::Store(error) => error.into(),
            CommandFailure::NotApplied => {
                tracing::warn!(%id, NOT_APPLIED);
                Self::Unavailable { id }
            }
            CommandFailure::NoReply => {
                tracing::warn!(%id, NO_REPLY);
                Self::Unsure { id }
            }
        }
    }
}

impl Hub {
    /// Sends a client's message to the hub that owns the run. Returns `None` if no hub does.
    pub async fn send_run_command(
        &self,
        run_id: &str,
        message: &ClientMessage,
    ) -> Result<Option<CommandReply>, CommandFailure> {
        let Some(hub) = self.me.upgrade().filter(|_| self.store.is_shared()) else {
            return Ok(None);
        };
        let body = serde_json::to_string(message).map_err(StoreError::from)?;
        let command = SendRunCommand {
            run_id: run_id.to_owned(),
            body,
        };
        let Some(number) = self.store.run(command).await? else {
            return Ok(None);
        };
        let reply = self.cluster.commands.expect_reply(number);
        self.cluster.publish(|| Signal::Letter);
        // This hub may itself be taking the run over.
        process_pending(&hub);
        match timeout(REPLY_TIMEOUT, reply).await {
            Ok(Ok(CommandReply::Undone)) => Err(CommandFailure::NotApplied),
            Ok(Ok(reply)) => Ok(Some(reply)),
            Ok(Err(_)) | Err(_) => Err(CommandFailure::NoReply),
        }
    }
}

/// Executes the stored commands for runs of this hub: in order within a run, and concurrently across runs.
pub fn process_pending(hub: &Arc<Hub>) {
    let hub = Arc::clone(hub);
    tokio::spawn(async move {
        let since = hub.store.clock().now().minus(COMMAND_TTL);
        let commands = match hub
            .store
            .run(ReadRunCommands {
                node: hub.store.node(),
                since,
            })
            .await
        {
            Ok(commands) => commands,
            Err(error) => return tracing::warn!(%error, "reading remote run commands failed; retrying"),
        };
        let (late, commands): (Vec<_>, Vec<_>) = commands.into_iter().partition(|command| command.is_late);
        for run_id in hub.cluster.commands.enqueue(commands) {
            tokio::spawn(process_queue(Arc::clone(&hub), run_id));
        }
        for command in late {
            delete_command(&hub, command.number).await;
        }
    });
}

async fn process_queue(hub: Arc<Hub>, run_id: String) {
    while let Some(command) = hub.cluster.commands.next(&run_id) {
        let number = command.number;
        let reply = match locate_run(&hub, &run_id).await {
            RunLocation::Here => execute(&hub, command).await,
            RunLocation::Arriving => CommandReply::Undone,
            // Left for the hub that owns the run now.
            RunLocation::Elsewhere => {
                hub.cluster.commands.give_back(number);
                continue;
            }
        };
        delete_command(&hub, number).await;
        if !hub.cluster.commands.reply_arrived(number, reply.clone()) {
            hub.cluster.publish(|| Signal::Answered { letter: number, reply });
        }
    }
}

/// A row that could not be deleted is not executed twice: it is remembered as handled until it is past its TTL.
async fn delete_command(hub: &Hub, number: i64) {
    if let Err(error) = hub.store.run(DeleteRunCommand { number }).await {
        tracing::warn!(%error, "deleting a remote run command failed");
    }
}

enum RunLocation {
    /// Owned here, or ended: both are answered by this hub.
    Here,
    Elsewhere,
    Arriving,
}

/// Polls, because a run that is being taken over belongs to this hub shortly before it is in memory.
async fn locate_run(hub: &Hub, run_id: &str) -> RunLocation {
    for _ in 0..MAX_POLLS {
        if hub.is_active_here(run_id) {
            return RunLocation::Here;
        }
        match hub
            .store
            .run(ReadRun {
                run_id: run_id.to_owned(),
            })
            .await
        {
            Ok(Some(run)) if run.summary.state == StoredRunState::Running && run.node == hub.store.node() => {}
            Ok(Some(run)) if run.summary.state == StoredRunState::Running => return RunLocation::Elsewhere,
            Ok(Some(_) | None) => return RunLocation::Here,
            Err(error) => tracing::warn!(run_id, %error, "reading the owner of a run failed; retrying"),
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
    RunLocation::Arriving
}

async fn execute(hub: &Arc<Hub>, command: RemoteCommand) -> CommandReply {
    let done = match runs::read(command.body.as_bytes()).map(|received| received.message) {
        Ok(ClientMessage::StopRun { run_id }) => {
            hub.stop_local_run(&run_id).await;
            Ok(())
        }
        Ok(ClientMessage::SteerRun { run_id, text }) => hub.steer_local_run(&run_id, text).await,
        Ok(ClientMessage::UpdatePolicy(change)) => hub.change_local_policy(change).await,
        Ok(_) | Err(_) => Err(RunRefusal::internal(&"a stored run command could not be parsed")),
    };
    match done {
        Ok(()) => CommandReply::Done,
        Err(RunRefusal { code, message }) => CommandReply::Refused {
            code: code.to_string(),
            message,
        },
    }
}
