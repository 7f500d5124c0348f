//! Looks up one message by its id.

use countersign_protocol::id::MessageId;
use countersign_store::model::{Lookup, PersonView};
use countersign_store::ops::message::pull::View;

use crate::Hub;
use crate::problem::Problem;

pub async fn find(hub: &Hub, id: &MessageId) -> Result<PersonView, Problem> {
    match hub.store.run(View(id.clone())).await? {
        Some(Lookup::Present(item)) => Ok(item),
        Some(Lookup::Purged { .. }) => Err(Problem::Gone),
        None => Err(Problem::no_message()),
    }
}
