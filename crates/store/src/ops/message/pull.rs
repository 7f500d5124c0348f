//! One message by its id, for its agent or for people.

use countersign_protocol::id::MessageId;
use countersign_protocol::time::Timestamp;

use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op};
use crate::model::{AgentView, Lookup, PersonView};
use crate::ops::rows;

pub struct Pull(pub MessageId);

impl Op for Pull {
    type Out = Option<Lookup<AgentView>>;
    const MODE: AccessMode = AccessMode::Read;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<Self::Out, StoreError> {
        pulled(x, &self.0).await
    }
}

pub async fn pulled<X: Exec>(x: &mut X, id: &MessageId) -> Result<Option<Lookup<AgentView>>, StoreError> {
    const SELECT: &str = "SELECT m.agent_id, m.purged_at, m.rev, m.received_at, m.expires_at, m.status, r.body, \
         m.source, t.wire FROM message m LEFT JOIN message_text t ON t.seq = m.seq \
         LEFT JOIN resolution r ON r.seq = m.resolution_seq WHERE m.id = ?1";
    let Some(mut row) = x.row(SELECT, &[id.as_str().into()]).await? else {
        return Ok(None);
    };
    let agent_id = row.text(0)?;
    if row.opt_int(1)?.is_some() {
        return Ok(Some(Lookup::Purged { agent_id }));
    }
    Ok(Some(Lookup::Present(AgentView {
        id: id.clone(),
        agent_id,
        rev: row.int(2)?,
        received_at: row.instant(3)?,
        expires_at: row.opt_instant(4)?,
        state: rows::state(&row.text(5)?, row.opt_text(6)?.as_deref())?,
        source: serde_json::from_str(&row.text(7)?)?,
        wire: row.text(8)?,
    })))
}

pub struct View(pub MessageId);

impl Op for View {
    type Out = Option<Lookup<PersonView>>;
    const MODE: AccessMode = AccessMode::Read;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<Self::Out, StoreError> {
        const SELECT: &str = rows::select_items!("WHERE m.id = ?1");
        let Some(mut row) = x.row(SELECT, &[self.0.as_str().into()]).await? else {
            return Ok(None);
        };
        if row.opt_int(rows::MESSAGE + 1)?.is_some() {
            return Ok(Some(Lookup::Purged {
                agent_id: row.text(rows::MESSAGE + 2)?,
            }));
        }
        rows::item(&mut row).map(|item| Some(Lookup::Present(item)))
    }
}
