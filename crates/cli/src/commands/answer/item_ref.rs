//! The item that a command means: by id, by the beginning of an id, by its row in the last table, or `last`.

use std::path::PathBuf;

use anyhow::{Result, bail};
use countersign_client::hub::HubClient;
use countersign_client::item::ClientItem;
use countersign_client::last_table::LastTable;
use countersign_terminal::waiting_items;

const ID_PREFIX: &str = "msg_";
const ID_CHARS: usize = 30;
const MAX_ROW_DIGITS: usize = 5;

#[derive(Debug, Clone, PartialEq)]
pub enum ItemRef {
    /// A complete id.
    Id(String),
    /// The beginning of an id.
    Prefix(String),
    /// A row of the last table.
    Row(usize),
    /// The newest item that waits.
    Last,
    /// The only item that waits.
    Only,
}

impl ItemRef {
    /// `None` for a word that cannot name an item, and may be an answer.
    pub fn read(word: &str) -> Option<Self> {
        let is_number =
            !word.is_empty() && word.len() <= MAX_ROW_DIGITS && word.bytes().all(|digit| digit.is_ascii_digit());
        match word {
            "last" => Some(Self::Last),
            _ if is_number => word.parse().ok().map(Self::Row),
            _ if !word.starts_with(ID_PREFIX) => None,
            _ if word.len() < ID_CHARS => Some(Self::Prefix(word.to_owned())),
            _ => Some(Self::Id(word.to_owned())),
        }
    }

    /// The id that is meant. `data` is where the last table is stored.
    pub async fn id(self, client: &HubClient, data: impl Fn() -> Result<PathBuf>) -> Result<String> {
        match self {
            Self::Id(id) => Ok(id),
            Self::Row(number) => LastTable::row(&data()?, number, jiff::Timestamp::now()),
            Self::Prefix(prefix) => with_prefix(&prefix, &waiting_items(client).await?),
            Self::Last => newest(&waiting_items(client).await?),
            Self::Only => only(&waiting_items(client).await?),
        }
    }
}

fn answerable(items: &[ClientItem]) -> impl Iterator<Item = &ClientItem> {
    items.iter().filter(|item| item.can_answer)
}

/// An id that no waiting item has may be that of a decided one, so it is passed on.
fn with_prefix(prefix: &str, items: &[ClientItem]) -> Result<String> {
    if let Some(exact) = items.iter().find(|item| item.id == prefix) {
        return Ok(exact.id.clone());
    }
    let found: Vec<&ClientItem> = items.iter().filter(|item| item.id.starts_with(prefix)).collect();
    match found.as_slice() {
        [] => Ok(prefix.to_owned()),
        [one] => Ok(one.id.clone()),
        several => bail!(
            "{} waiting items begin with {prefix}: give more of the id, or a row number of `countersign inbox --table`",
            several.len()
        ),
    }
}

/// Ids grow with time.
fn newest(items: &[ClientItem]) -> Result<String> {
    match answerable(items).max_by(|one, other| one.id.cmp(&other.id)) {
        Some(item) => Ok(item.id.clone()),
        None => bail!("nothing waits for you"),
    }
}

fn only(items: &[ClientItem]) -> Result<String> {
    let mut answerable = answerable(items);
    match (answerable.next(), answerable.count()) {
        (Some(item), 0) => Ok(item.id.clone()),
        (None, _) => bail!("nothing waits for you"),
        (Some(_), others) => bail!(
            "{} items wait for you: say which one, by its row number in `countersign inbox --table`, its id, or `last`",
            others + 1
        ),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn items(ids: &[(&str, bool)]) -> Vec<ClientItem> {
        let item = |(id, can_answer): &(&str, bool)| {
            serde_json::from_value(json!({
                "id": id, "type": "ask", "status": "open", "title": "t", "priority": "normal", "can_answer": can_answer,
                "agent": {"id": "bot", "run_id": "r", "runtime": "cli"}, "created_at": "2026-06-04T15:00:00.000Z",
            }))
            .unwrap()
        };
        ids.iter().map(item).collect()
    }

    #[test]
    fn a_word_that_is_no_reference_is_left_for_the_answer() {
        assert_eq!(ItemRef::read("last"), Some(ItemRef::Last));
        assert_eq!(ItemRef::read("12"), Some(ItemRef::Row(12)));
        assert_eq!(ItemRef::read("msg_01m7"), Some(ItemRef::Prefix("msg_01m7".to_owned())));
        let id = "msg_01m7ps4q9hephbnrbmj6ccc97z";
        assert_eq!(ItemRef::read(id), Some(ItemRef::Id(id.to_owned())));
        for word in ["approve", "yes", "", "-1", "1.5", "123456", "{\"a\":1}", "Last"] {
            assert_eq!(ItemRef::read(word), None, "{word}");
        }
    }

    #[test]
    fn a_prefix_must_be_unique() {
        let items = items(&[("msg_01aa", true), ("msg_01ab", true)]);
        assert_eq!(with_prefix("msg_01ab", &items).unwrap(), "msg_01ab");
        assert_eq!(with_prefix("msg_01aa", &items).unwrap(), "msg_01aa");
        assert_eq!(with_prefix("msg_02", &items).unwrap(), "msg_02");
        let error = with_prefix("msg_01a", &items).unwrap_err().to_string();
        assert!(error.starts_with("2 waiting items begin with msg_01a"), "{error}");
    }

    #[test]
    fn only_items_that_the_person_may_answer_are_guessed() {
        let two = items(&[("msg_1", true), ("msg_2", true), ("msg_3", false)]);
        assert_eq!(newest(&two).unwrap(), "msg_2");
        assert!(only(&two).unwrap_err().to_string().starts_with("2 items wait"));
        assert_eq!(only(&items(&[("msg_1", true), ("msg_3", false)])).unwrap(), "msg_1");
        for none in [items(&[]), items(&[("msg_3", false)])] {
            assert!(newest(&none).is_err() && only(&none).is_err());
        }
    }
}
