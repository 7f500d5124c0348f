//! One message, by its id.

use countersign_protocol::id::MessageId;
use countersign_store::model::{Found, Item};
use countersign_store::ops::pull::View;

use crate::app::Hub;
use crate::problem::Problem;

pub async fn find(hub: &Hub, id: &MessageId) -> Result<Item, Problem> {
    match hub.store.run(View(id.clone())).await? {
        Some(Found::Live(item)) => Ok(item),
        Some(Found::Gone { .. }) => Err(Problem::Gone),
        None => Err(Problem::no_message()),
    }
}
