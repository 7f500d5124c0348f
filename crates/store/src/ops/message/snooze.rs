//! Snoozed and archived messages of one person. Other people's lists do not change, and nothing is decided.

use countersign_protocol::id::MessageId;
use countersign_protocol::time::Timestamp;

use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op};

/// Snoozes an open message until a time, or archives a resolved one. Returns whether there is such a message. An open
/// message cannot be archived: it would wait for an answer unseen.
pub struct SnoozeOrArchive {
    pub person: String,
    pub id: MessageId,
    pub until: Option<Timestamp>,
}

impl Op for SnoozeOrArchive {
    type Out = bool;
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<bool, StoreError> {
        let person = (&self.person).into();
        let id = self.id.as_str().into();
        let put = match self.until {
            Some(until) => x.exec(X::DIALECT.snooze, &[person, id, until.into()]).await?,
            None => x.exec(X::DIALECT.archive, &[person, id]).await?,
        };
        Ok(put == 1)
    }
}

/// Returns whether the person had snoozed or archived the message.
pub struct RestoreItem {
    pub person: String,
    pub id: MessageId,
}

impl Op for RestoreItem {
    type Out = bool;
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<bool, StoreError> {
        const TAKE: &str = "DELETE FROM shelf WHERE person = ?1 AND seq = (SELECT seq FROM message WHERE id = ?2)";
        Ok(x.exec(TAKE, &[(&self.person).into(), self.id.as_str().into()]).await? == 1)
    }
}
