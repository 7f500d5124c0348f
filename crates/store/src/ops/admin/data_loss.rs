//! The audit entry of a start that accepted lost data.

use countersign_protocol::time::Timestamp;

use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op};
use crate::ops::message::audit;

pub struct RecordDataLoss {
    pub actor: String,
}

impl Op for RecordDataLoss {
    type Out = ();
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<(), StoreError> {
        audit::append_operation(x, "hub", &self.actor, "hub.data_loss_accepted", now).await
    }
}
