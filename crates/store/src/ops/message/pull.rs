//! One message by its id, for its agent or for people; and the receipts of what agents have fetched.

use countersign_protocol::id::MessageId;
use countersign_protocol::time::Timestamp;

use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op};
use crate::model::{AgentView, Lookup, PersonView};
use crate::ops::agent::names;
use crate::ops::rows;

pub struct Pull(pub MessageId);

impl Op for Pull {
    type Out = Option<Lookup<AgentView>>;
    const MODE: AccessMode = AccessMode::Read;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<Self::Out, StoreError> {
        agent_view(x, &self.0).await
    }
}

pub async fn agent_view<X: Exec>(x: &mut X, id: &MessageId) -> Result<Option<Lookup<AgentView>>, StoreError> {
    const SELECT: &str = rows::select_audited!(", m.purged_at", "", "WHERE m.id = ?1");
    const PURGED_AT: usize = rows::AUDITED;
    let Some(mut row) = x.row(SELECT, &[id.as_str().into()]).await? else {
        return Ok(None);
    };
    if row.opt_int(PURGED_AT)?.is_some() {
        return Ok(Some(Lookup::Purged {
            agent_id: row.text(rows::AGENT)?,
        }));
    }
    rows::agent_view(&mut row).map(|view| Some(Lookup::Present(view)))
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
        if row.opt_int(rows::PURGED_AT)?.is_some() {
            return Ok(Some(Lookup::Purged {
                agent_id: row.text(rows::AGENT)?,
            }));
        }
        let mut item = [Ok(rows::item(&mut row)?)];
        names::fill(x, &mut item).await?;
        let [item] = item;
        Ok(item.ok().map(Lookup::Present))
    }
}

/// Records that agents have fetched their answers. Only the first fetch of a message counts, and only if it is resolved. Returns the ids for which this was the first.
pub struct RecordFetched {
    pub ids: Vec<MessageId>,
}

impl Op for RecordFetched {
    type Out = Vec<MessageId>;
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<Vec<MessageId>, StoreError> {
        let mut recorded = Vec::new();
        for id in &self.ids {
            if x.exec(X::DIALECT.note_fetched, &[id.as_str().into(), now.into()])
                .await?
                == 1
            {
                recorded.push(id.clone());
            }
        }
        Ok(recorded)
    }
}
