//! An inbox without terminal and hub: keys go in, effects come out, and the clock is moved by hand.

use std::sync::Arc;
use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use jiff::tz::TimeZone;
use reqwest::StatusCode;
use serde_json::{Value, json};

use super::super::super::feed::{Feed, News};
use super::super::super::filter::Filter;
use super::super::super::seen::Seen;
use super::super::super::seen::tests::{answered, seen};
use super::super::{Effect, GUARD, Input, Listing, Now, Page, Reply, State};
use crate::client::HubError;

pub struct Scene {
    pub state: State,
    now: Now,
}

impl Scene {
    /// With these open confirms, all of them read.
    pub fn with(ids: &[&str]) -> Self {
        Self::holding(ids.iter().map(|id| seen(id, &json!({}))).collect())
    }

    pub fn holding(items: Vec<Seen>) -> Self {
        let now = Now {
            at: "2026-06-04T15:00:05Z".parse().unwrap(),
            elapsed: Duration::ZERO,
        };
        let mut scene = Self {
            state: State::new(Filter::default(), TimeZone::UTC, now),
            now,
        };
        scene.feed(Feed::Live);
        scene.loaded(Listing::Waiting, items);
        scene
    }

    pub fn put(&mut self, input: Input) -> Vec<Effect> {
        self.state.update(input, self.now)
    }

    pub fn pass(&mut self, time: Duration) -> Vec<Effect> {
        self.now.elapsed += time;
        self.now.at += time;
        self.put(Input::Tick)
    }

    pub fn feed(&mut self, feed: Feed) -> Vec<Effect> {
        self.put(Input::Feed(feed))
    }

    pub fn news(&mut self, news: News) -> Vec<Effect> {
        self.feed(Feed::News(news))
    }

    pub fn reply(&mut self, reply: Reply) -> Vec<Effect> {
        self.put(Input::Reply(reply))
    }

    pub fn loaded(&mut self, listing: Listing, items: Vec<Seen>) -> Vec<Effect> {
        let page = Page {
            items: items.into_iter().map(Arc::new).collect(),
            next: None,
        };
        self.reply(Reply::Loaded {
            listing,
            appends: false,
            page: Ok(page),
        })
    }

    pub fn read(&mut self, seen: Seen, fresh: bool) -> Vec<Effect> {
        self.reply(Reply::Read {
            id: seen.id().to_owned(),
            fresh,
            seen: Ok(Arc::new(seen)),
        })
    }

    pub fn press(&mut self, code: KeyCode) -> Vec<Effect> {
        self.put(Input::Key(code.into()))
    }

    pub fn key(&mut self, letter: char) -> Vec<Effect> {
        self.press(KeyCode::Char(letter))
    }

    pub fn control(&mut self, letter: char) -> Vec<Effect> {
        self.put(Input::Key(KeyEvent::new(KeyCode::Char(letter), KeyModifiers::CONTROL)))
    }

    pub fn keys(&mut self, text: &str) {
        text.chars()
            .for_each(|letter| assert_eq!(self.key(letter), [], "{letter}"));
    }

    /// Opens what is under the cursor and waits until it takes answers.
    pub fn open(&mut self) {
        self.press(KeyCode::Enter);
        assert!(self.state.open.is_some());
        self.pass(GUARD);
    }

    /// What is sent when the hub is to decide; nothing else may go out with it.
    #[track_caller]
    pub fn sent(effects: Vec<Effect>) -> Value {
        match <[Effect; 1]>::try_from(effects) {
            Ok([Effect::Resolve { body, .. }]) => body,
            other => panic!("one answer was to be sent, not {other:?}"),
        }
    }

    pub fn taken(&mut self, id: &str) -> Vec<Effect> {
        let effects = self.reply(Reply::Resolved {
            id: id.to_owned(),
            status: Ok("answered".to_owned()),
        });
        self.read(answered(id, "human:owner", "approve"), false);
        effects
    }

    pub fn refused(&mut self, id: &str, code: &str, field: Option<&str>, message: &str) -> Vec<Effect> {
        let error = HubError::Refused {
            status: StatusCode::CONFLICT,
            code: code.to_owned(),
            message: message.to_owned(),
            field: field.map(str::to_owned),
        };
        self.reply(Reply::Resolved {
            id: id.to_owned(),
            status: Err(error),
        })
    }

    pub fn shown(&self) -> Vec<&str> {
        self.state.rows().iter().map(|seen| seen.id()).collect()
    }

    pub fn cursor(&self) -> &str {
        self.state.selected().map(|seen| seen.id()).unwrap_or_default()
    }

    pub fn said(&self) -> &str {
        self.state
            .said
            .as_ref()
            .map(|said| said.text.as_str())
            .unwrap_or_default()
    }
}
