//! A full inbox is cleared by a script of keys that is fixed before the first page opens.

use countersign_core::question::Question;
use serde_json::{Value, json};

use super::chrome::{Browser, Viewport};
use super::seed;
use crate::harness::*;

const ENTER: &str = "\u{e007}";
const TAB: &str = "\u{e004}";
const WIDE: Viewport = Viewport {
    width: 1440,
    ..Viewport::DESKTOP
};
const MESSAGES: usize = 100;
const KINDS: usize = 8;
const NORMAL: Place = Place { minutes: None, rank: 1 };

/// The place in the list: what ends within an hour, soonest first, then by priority, then by arrival.
#[derive(Clone, Copy)]
struct Place {
    minutes: Option<usize>,
    rank: usize,
}

impl Place {
    fn key(self) -> (usize, usize) {
        match self.minutes {
            Some(minutes) => (minutes, 0),
            None => (usize::MAX, self.rank),
        }
    }
}

enum Message {
    Sent(Value),
    Seeded(Question),
    Notice(Value),
}

/// A message, the keys that answer it, and the part of its resolution that they mean.
struct Item {
    message: Message,
    place: Place,
    keys: String,
    means: Value,
}

impl Item {
    fn new(message: Message, keys: String, means: Value) -> Self {
        Self {
            message,
            place: NORMAL,
            keys,
            means,
        }
    }

    /// Some messages are urgent, and some end soon, the later ones sooner.
    fn arrange(&mut self, number: usize) {
        let Message::Sent(envelope) = &mut self.message else {
            return;
        };
        if number.is_multiple_of(5) {
            self.place.rank = 0;
            envelope["priority"] = "urgent".into();
        } else if number.is_multiple_of(6) {
            let minutes = 10 + (MESSAGES - number) / 4;
            self.place.minutes = Some(minutes);
            *envelope = expiring(envelope.clone(), minutes as i64 * 60_000);
        }
    }
}

fn form() -> Value {
    let mut form = input("bot");
    form["request"]["schema"] = json!({
        "type": "object",
        "properties": {"reason": {"type": "string"}, "retries": {"type": "integer"}},
        "required": ["reason", "retries"],
    });
    form
}

fn answered(value: impl Into<Value>) -> Value {
    json!({"value": value.into()})
}

fn item(number: usize) -> Item {
    let text = format!("words {number}");
    let (message, keys, means) = match number % KINDS {
        0 => (Message::Sent(ask("bot")), "a".to_owned(), answered("approve")),
        1 => (Message::Sent(ask("bot")), "2".to_owned(), answered("deny")),
        2 => (Message::Sent(select("bot")), format!("2{ENTER}"), answered("green")),
        3 => (
            Message::Sent(task("bot")),
            "12a".to_owned(),
            json!({"checklist": [{"text": "rotate", "done": true}, {"text": "announce", "done": true}]}),
        ),
        4 => (
            Message::Sent(form()),
            format!("1{text}{TAB}{number}{ENTER}"),
            answered(json!({"reason": text, "retries": number})),
        ),
        5 => (
            Message::Seeded(seed::text()),
            format!("1{text}{TAB}{ENTER}"),
            answered(text),
        ),
        6 => (
            Message::Seeded(seed::many()),
            format!("13{ENTER}"),
            answered(json!(["eu", "asia"])),
        ),
        _ => (Message::Notice(notify("bot")), "e".to_owned(), Value::Null),
    };
    let mut item = Item::new(message, keys, means);
    item.arrange(number);
    item
}

/// Submits everything, the seeded questions in the middle. Returns the ids and items in the order of the list, and then
/// the notices.
async fn submit(hub: &mut Hub) -> (Vec<(String, Item)>, Vec<Item>) {
    let bot = hub.agent("bot").await;
    let (mut open, mut notices, mut questions) = (Vec::new(), Vec::new(), Vec::new());
    for number in 0..MESSAGES {
        let item = item(number);
        match &item.message {
            Message::Sent(envelope) => open.push((bot.accepted(envelope).await, item)),
            Message::Notice(envelope) => {
                bot.accepted(envelope).await;
                notices.push(item);
            }
            Message::Seeded(question) => questions.push((question.clone(), item)),
        }
    }
    let seeds = questions.iter().map(|(question, _)| ("Seeded", question.clone()));
    let ids = seed::ask(hub, "bot", seeds.collect()).await;
    open.extend(ids.into_iter().zip(questions.into_iter().map(|(_, item)| item)));
    open.sort_by_key(|(_, item)| item.place.key());
    (open, notices)
}

#[tokio::test]
async fn a_hundred_mixed_messages_are_cleared_by_a_script_of_keys_and_none_is_misread() {
    let mut hub = Hub::start().await;
    let (open, notices) = submit(&mut hub).await;
    assert_eq!(open.len() + notices.len(), MESSAGES);
    let browser = Browser::signed_in(WIDE, &hub).await;
    browser.wait_for("#rows > .row").await;
    browser.press(&format!("j{ENTER}")).await;
    for (id, item) in &open {
        browser.item_ready(id).await;
        browser.press(&item.keys).await;
    }
    browser.wait_for("body[data-page=list] .empty").await;
    browser.press("gn").await;
    browser.wait_for("body[data-page=notices] #rows > .row").await;
    let keys: String = notices.iter().map(|item| item.keys.as_str()).collect();
    browser.press(&format!("j{keys}")).await;
    browser.wait_for("body[data-page=notices] .empty").await;
    for list in ["/v1/inbox", "/v1/notices"] {
        assert_eq!(hub.owner.get(list).await.expect(200)["items"], json!([]));
    }
    for (id, item) in &open {
        let resolution = &hub.owner.get(&format!("/v1/inbox/{id}")).await.expect(200)["resolution"];
        for (field, meant) in item.means.as_object().expect("an answer") {
            assert_eq!(&resolution[field], meant, "{id}: {resolution}");
        }
    }
    browser.finish().await;
}
