//! An inbox without terminal and hub: keys go in, effects come out, and the clock is advanced manually.

use std::sync::Arc;
use std::time::Duration;

use countersign_client::hub::ClientError;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use jiff::tz::TimeZone;
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::feed::{FeedEvent, InboxChange};
use crate::filter::InboxFilter;
use crate::inbox_entry::InboxEntry;
use crate::inbox_entry::tests::{answered, entry};
use crate::state::{Effect, EntriesPage, GUARD, InboxInput, InboxReply, InboxState, Listing, Now};

pub struct Scene {
    pub state: InboxState,
    now: Now,
}

impl Scene {
    /// With these open confirms, all loaded.
    pub fn with(ids: &[&str]) -> Self {
        Self::holding(ids.iter().map(|id| entry(id, &json!({}))).collect())
    }

    pub fn holding(items: Vec<InboxEntry>) -> Self {
        let now = Now {
            at: "2026-06-04T15:00:05Z".parse().unwrap(),
            elapsed: Duration::ZERO,
        };
        let mut scene = Self {
            state: InboxState::new(InboxFilter::default(), TimeZone::UTC, now),
            now,
        };
        scene.feed(FeedEvent::Live);
        scene.loaded(Listing::Waiting, items);
        scene
    }

    pub fn put(&mut self, input: InboxInput) -> Vec<Effect> {
        self.state.update(input, self.now)
    }

    pub fn pass(&mut self, time: Duration) -> Vec<Effect> {
        self.now.elapsed += time;
        self.now.at += time;
        self.put(InboxInput::Tick)
    }

    pub fn feed(&mut self, feed: FeedEvent) -> Vec<Effect> {
        self.put(InboxInput::Feed(feed))
    }

    pub fn change(&mut self, change: InboxChange) -> Vec<Effect> {
        self.feed(FeedEvent::Change(change))
    }

    pub fn reply(&mut self, reply: InboxReply) -> Vec<Effect> {
        self.put(InboxInput::Reply(reply))
    }

    pub fn loaded(&mut self, listing: Listing, items: Vec<InboxEntry>) -> Vec<Effect> {
        let page = EntriesPage {
            items: items.into_iter().map(Arc::new).collect(),
            next_cursor: None,
            total: None,
        };
        self.reply(InboxReply::Loaded {
            listing,
            appends: false,
            page: Ok(page),
        })
    }

    pub fn read(&mut self, entry: InboxEntry, fresh: bool) -> Vec<Effect> {
        self.reply(InboxReply::Read {
            id: entry.id().to_owned(),
            fresh,
            entry: Ok(Arc::new(entry)),
        })
    }

    pub fn press(&mut self, code: KeyCode) -> Vec<Effect> {
        self.put(InboxInput::Key(code.into()))
    }

    pub fn key(&mut self, letter: char) -> Vec<Effect> {
        self.press(KeyCode::Char(letter))
    }

    pub fn control(&mut self, letter: char) -> Vec<Effect> {
        self.put(InboxInput::Key(KeyEvent::new(
            KeyCode::Char(letter),
            KeyModifiers::CONTROL,
        )))
    }

    pub fn keys(&mut self, text: &str) {
        text.chars()
            .for_each(|letter| assert_eq!(self.key(letter), [], "{letter}"));
    }

    /// Opens the selected item and waits until it takes answers.
    pub fn open(&mut self) {
        self.press(KeyCode::Enter);
        assert!(self.state.open.is_some());
        self.pass(GUARD);
    }

    /// The body of the resolve call, which must be the only effect.
    #[track_caller]
    pub fn sent(effects: Vec<Effect>) -> Value {
        match <[Effect; 1]>::try_from(effects) {
            Ok([Effect::Resolve { body, .. }]) => body,
            other => panic!("one answer was to be sent, not {other:?}"),
        }
    }

    pub fn taken(&mut self, id: &str) -> Vec<Effect> {
        let effects = self.reply(InboxReply::Resolved {
            id: id.to_owned(),
            status: Ok("answered".to_owned()),
        });
        self.read(answered(id, "human:owner", "approve"), false);
        effects
    }

    pub fn refused(&mut self, id: &str, code: &str, field: Option<&str>, message: &str) -> Vec<Effect> {
        let error = ClientError::Refused {
            status: StatusCode::CONFLICT,
            code: code.to_owned(),
            message: message.to_owned(),
            field: field.map(str::to_owned),
        };
        self.reply(InboxReply::Resolved {
            id: id.to_owned(),
            status: Err(error),
        })
    }

    pub fn shown(&self) -> Vec<&str> {
        self.state.rows().iter().map(|entry| entry.id()).collect()
    }

    pub fn cursor(&self) -> &str {
        self.state.selected().map(|entry| entry.id()).unwrap_or_default()
    }

    pub fn message(&self) -> &str {
        self.state
            .message
            .as_ref()
            .map(|message| message.text.as_str())
            .unwrap_or_default()
    }
}
