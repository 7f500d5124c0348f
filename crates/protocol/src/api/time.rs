use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::escape::escape;
use crate::time::Timestamp;

/// An instant from the hub. It stays text, so that a malformed date does not hide its item.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct HubTime(String);

impl From<String> for HubTime {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<Timestamp> for HubTime {
    fn from(instant: Timestamp) -> Self {
        Self(instant.to_string())
    }
}

impl fmt::Display for HubTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&escape(&self.0))
    }
}

impl HubTime {
    pub fn at(&self) -> Option<jiff::Timestamp> {
        self.0.parse().ok()
    }

    /// The time since the instant; zero for an instant in the future.
    pub fn age(&self, now: jiff::Timestamp) -> Duration {
        self.at()
            .map(|at| now.duration_since(at).try_into().unwrap_or_default())
            .unwrap_or_default()
    }

    /// The time until the instant; zero for an instant in the past.
    pub fn remaining(&self, now: jiff::Timestamp) -> Duration {
        self.at()
            .map(|at| at.duration_since(now).try_into().unwrap_or_default())
            .unwrap_or_default()
    }
}
