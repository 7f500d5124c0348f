//! Durations and instants as command line options.

use std::time::Duration;

use countersign_agent::Timestamp;
use countersign_client::duration::{self, too_long};

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Span(pub Duration);

impl Span {
    pub fn read(text: &str) -> Result<Self, String> {
        duration::read(text).map(Self)
    }
}

/// A duration from now, or an instant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum When {
    In(Duration),
    At(Timestamp),
}

impl When {
    pub fn read(text: &str) -> Result<Self, String> {
        if let Some(at) = Timestamp::parse_rfc3339(text) {
            return Ok(Self::At(at));
        }
        match Span::read(text) {
            Ok(Span(span)) => Ok(Self::In(span)),
            Err(error) if error == too_long() => Err(error),
            Err(error) => Err(format!("{error}, or as an instant such as 2026-06-04T15:48:30Z")),
        }
    }

    pub fn from(self, now: Timestamp) -> Timestamp {
        match self {
            Self::In(span) => now.plus(span),
            Self::At(at) => at,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_is_read_as_one() {
        let now = Timestamp::from_millis(1_000);
        assert_eq!(When::read("2s").unwrap().from(now), Timestamp::from_millis(3_000));
        let at = When::read("1970-01-01T00:01:00Z").unwrap();
        assert_eq!(at.from(now), Timestamp::from_millis(60_000));
        assert_eq!(When::read("99999d"), Err(too_long()));
        assert!(When::read("tomorrow").unwrap_err().contains("2026-06-04T15:48:30Z"));
    }
}
