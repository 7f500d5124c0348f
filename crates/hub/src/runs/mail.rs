use countersign_core::runs::policy::TooManyRules;
use countersign_protocol::runs::UpdatePolicy;
use tokio::sync::oneshot;

/// What others say to the task of a run. A reply that never comes means that the run is over.
pub enum Mail {
    Steer {
        text: String,
        /// Whether there was room for it.
        taken: oneshot::Sender<bool>,
    },
    Policy {
        change: UpdatePolicy,
        changed: oneshot::Sender<Result<(), TooManyRules>>,
    },
    Stop {
        stopped: oneshot::Sender<()>,
    },
    /// A run that waits for a person may stay as it is.
    HubStops {
        settled: oneshot::Sender<()>,
    },
}
