use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::time::Timestamp;
use crate::visible::escape;

/// An instant from the hub. An unreadable one is kept as text, so that a malformed date does not hide its item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct HubTime {
    text: String,
    at: Option<jiff::Timestamp>,
}

impl From<String> for HubTime {
    fn from(text: String) -> Self {
        let at = text.parse().ok();
        Self { text, at }
    }
}

impl From<HubTime> for String {
    fn from(time: HubTime) -> Self {
        time.text
    }
}

impl From<Timestamp> for HubTime {
    fn from(instant: Timestamp) -> Self {
        Self {
            text: instant.to_string(),
            at: jiff::Timestamp::from_millisecond(instant.as_millis()).ok(),
        }
    }
}

impl fmt::Display for HubTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&escape(&self.text))
    }
}

impl HubTime {
    pub fn at(&self) -> Option<jiff::Timestamp> {
        self.at
    }

    /// The time since the instant; zero for an instant in the future.
    pub fn age(&self, now: jiff::Timestamp) -> Duration {
        self.at
            .map(|at| now.duration_since(at).try_into().unwrap_or_default())
            .unwrap_or_default()
    }

    /// The time until the instant; zero for an instant in the past.
    pub fn remaining(&self, now: jiff::Timestamp) -> Duration {
        self.at
            .map(|at| at.duration_since(now).try_into().unwrap_or_default())
            .unwrap_or_default()
    }
}
