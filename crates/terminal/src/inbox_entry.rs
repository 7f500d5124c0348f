//! An item in the terminal inbox: who may decide it, where it is listed, and what a search finds in it.

use countersign_client::hub::{ClientError, typed};
use countersign_client::item::ClientItem;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

/// What expires within this time comes first, as at the hub.
const SOON: SignedDuration = SignedDuration::from_hours(1);

#[derive(Debug)]
pub struct InboxEntry {
    pub item: ClientItem,
}

impl InboxEntry {
    pub fn read(value: &Value) -> Result<Self, ClientError> {
        Ok(Self { item: typed(value)? })
    }

    /// An item that this version cannot read is listed by its title, and does not hide the others.
    pub fn read_or_name(value: &Value) -> Option<Self> {
        Self::read(value).or_else(|_| Self::read(&named(value))).ok()
    }

    pub fn id(&self) -> &str {
        &self.item.id
    }

    pub fn is_open(&self) -> bool {
        self.item.status == "open"
    }

    pub fn is_notice(&self) -> bool {
        self.item.verb == "notify"
    }

    pub fn may_respond(&self) -> bool {
        self.item.can_answer && self.is_open() && self.item.permissions.respond
    }

    /// An ask can be declined unless the asker forbids it; a task is dismissed instead.
    pub fn may_decline(&self) -> bool {
        self.item.can_answer && self.is_open() && self.item.question.is_some() && self.item.permissions.ignore
    }

    /// The hub's order: what expires within an hour, then what an agent waits for, then by priority and age. Ids grow with
    /// time.
    pub fn order(&self, now: Timestamp) -> (u8, Option<Timestamp>, u8, Option<Timestamp>, &str) {
        let rank = match self.item.priority.as_str() {
            "urgent" => 0,
            "high" => 1,
            "low" => 3,
            _ => 2,
        };
        let soon = self.expiry().filter(|at| at.duration_since(now) < SOON);
        let section = match soon {
            Some(_) => 0,
            None if self.is_awaited() => 1,
            None => 2,
        };
        let rank = if soon.is_some() { 0 } else { rank };
        (section, soon, rank, self.item.created_at.at(), &self.item.id)
    }

    fn expiry(&self) -> Option<Timestamp> {
        self.item.expires_at.as_ref().and_then(|at| at.at())
    }

    /// Whether a process of the agent waits for the answer.
    fn is_awaited(&self) -> bool {
        let presence = self
            .item
            .presence
            .as_ref()
            .and_then(|presence| presence.state.as_deref());
        matches!(presence, Some("waiting" | "paused"))
    }

    /// Whether all words of `search_text` occur, in any order, in the item's row or body.
    pub fn mentions(&self, search_text: &str) -> bool {
        let item = &self.item;
        let texts = [&item.title, &item.agent.id, &item.agent_name, &item.priority].into_iter();
        let texts = texts
            .chain(&item.body)
            .chain(&item.agent.project)
            .chain(&item.tags)
            .map(|text| text.to_lowercase());
        let all = texts.collect::<Vec<_>>().join("\n");
        let kind = item.kind();
        search_text
            .to_lowercase()
            .split_whitespace()
            .all(|word| all.contains(word) || kind == word)
    }
}

fn named(value: &Value) -> Value {
    let text = |name: &str| value[name].as_str().unwrap_or_default();
    json!({
        "id": text("id"),
        "type": text("type"),
        "status": text("status"),
        "title": format!("{} (this version cannot show it)", text("title")),
        "priority": text("priority"),
        "agent": {"id": value["agent"]["id"].as_str().unwrap_or_default(), "run_id": "", "runtime": ""},
        "created_at": text("created_at"),
    })
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// An open confirm that this person may answer, changed by `extra`.
    pub fn value(id: &str, extra: &Value) -> Value {
        let options = json!([{"value": "approve", "label": "Approve"}, {"value": "deny", "label": "Deny"}]);
        let mut item = json!({
            "id": id, "type": "ask", "status": "open", "title": format!("Title of {id}"), "priority": "normal",
            "agent": {"id": "bot", "run_id": "r", "runtime": "cli"}, "created_at": "2026-06-04T15:00:00.000Z",
            "question": {"kind": "confirm", "options": options, "allow_edit": false},
            "resolvers": ["human:owner"], "can_answer": true,
        });
        item.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        item
    }

    pub fn entry(id: &str, extra: &Value) -> InboxEntry {
        InboxEntry::read(&value(id, extra)).unwrap()
    }

    /// The same item after `actor` answered it.
    pub fn answered(id: &str, actor: &str, value: &str) -> InboxEntry {
        let resolution = json!({
            "resolution_id": "res_1", "resolution": "answered", "value": value, "actor": actor,
            "resolved_at": "2026-06-04T15:00:09.000Z",
        });
        entry(
            id,
            &json!({"status": "answered", "can_answer": false, "resolution": resolution}),
        )
    }

    #[test]
    fn urgent_comes_first_and_then_the_longest_waiting() {
        let mut all = [
            entry("c", &json!({"created_at": "2026-06-04T15:00:02.000Z"})),
            entry("b", &json!({})),
            entry(
                "d",
                &json!({"priority": "low", "created_at": "2026-06-04T14:00:00.000Z"}),
            ),
            entry(
                "e",
                &json!({"priority": "urgent", "created_at": "2026-06-04T16:00:00.000Z"}),
            ),
            entry("a", &json!({})),
        ];
        let now = "2026-06-04T16:00:00Z".parse().unwrap();
        all.sort_by(|one, other| one.order(now).cmp(&other.order(now)));
        assert_eq!(all.map(|entry| entry.item.id.clone()), ["e", "a", "b", "c", "d"]);
    }

    #[test]
    fn what_ends_soon_comes_before_what_an_agent_waits_for() {
        let mut all = [
            entry("urgent", &json!({"priority": "urgent"})),
            entry("awaited", &json!({"priority": "low", "presence": {"state": "waiting"}})),
            entry("gone", &json!({"presence": {"state": "gone"}})),
            entry("later", &json!({"expires_at": "2026-06-04T17:00:00.000Z"})),
            entry("soon", &json!({"expires_at": "2026-06-04T16:50:00.000Z"})),
            entry(
                "sooner",
                &json!({"priority": "low", "expires_at": "2026-06-04T16:10:00.000Z"}),
            ),
        ];
        let now = "2026-06-04T16:00:00Z".parse().unwrap();
        all.sort_by(|one, other| one.order(now).cmp(&other.order(now)));
        let order = all.map(|entry| entry.item.id.clone());
        assert_eq!(order, ["sooner", "soon", "awaited", "urgent", "gone", "later"]);
    }

    #[test]
    fn permissions_are_granted_unless_withdrawn() {
        assert!(entry("a", &json!({})).may_decline());
        let strict = entry("a", &json!({"permissions": {"respond": false, "ignore": false}}));
        assert!(!strict.may_respond() && !strict.may_decline());
        assert!(!entry("a", &json!({"can_answer": false})).may_respond());
    }

    #[test]
    fn words_are_found_in_any_order_and_case() {
        let entry = entry(
            "a",
            &json!({"title": "Ship Büro 1.7", "body": "all green", "tags": ["db"]}),
        );
        assert!(entry.mentions("büro ship") && entry.mentions("GREEN db bot confirm"));
        assert!(!entry.mentions("ship red"));
    }

    #[test]
    fn an_item_of_a_later_version_is_listed_and_cannot_be_answered() {
        let mut strange = value("a", &json!({}));
        strange["question"]["options"] = json!("see elsewhere");
        assert!(InboxEntry::read(&strange).is_err());
        let entry = InboxEntry::read_or_name(&strange).unwrap();
        assert_eq!(entry.item.title, "Title of a (this version cannot show it)");
        assert!(entry.is_open() && !entry.may_respond() && !entry.may_decline());
    }
}
