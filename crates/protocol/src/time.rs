//! Timestamps: whole milliseconds since the Unix epoch, written as RFC 3339 in UTC.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    pub const fn as_millis(self) -> i64 {
        self.0
    }

    pub const fn as_seconds(self) -> i64 {
        self.0.div_euclid(1000)
    }

    pub fn plus(self, duration: Duration) -> Self {
        let millis = i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
        Self(self.0.saturating_add(millis))
    }

    pub fn minus(self, duration: Duration) -> Self {
        let millis = i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
        Self(self.0.saturating_sub(millis))
    }

    /// The time from `earlier` to `self`; zero if `earlier` is later.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// Parses an RFC 3339 date-time. The offset is required: without it the instant is unknown.
    pub fn parse_rfc3339(text: &str) -> Option<Self> {
        let has_date_and_time = text.len() >= 20 && matches!(text.as_bytes()[10], b'T' | b't' | b' ');
        if !has_date_and_time || text.contains('[') {
            return None;
        }
        let instant: jiff::Timestamp = text.parse().ok()?;
        Some(Self(instant.as_millisecond()))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let instant = jiff::Timestamp::from_millisecond(self.0).map_err(|_| fmt::Error)?;
        write!(f, "{instant:.3}")
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        Self::parse_rfc3339(&text).ok_or_else(|| de::Error::custom("not an RFC 3339 date-time"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timestamp_survives_a_round_trip() {
        let instant = Timestamp::from_millis(1_780_588_110_250);
        assert_eq!(instant.to_string(), "2026-06-04T15:48:30.250Z");
        assert_eq!(Timestamp::parse_rfc3339(&instant.to_string()), Some(instant));
    }

    #[test]
    fn an_offset_is_required() {
        let utc = Timestamp::parse_rfc3339("2026-06-04T15:48:30Z");
        assert_eq!(Timestamp::parse_rfc3339("2026-06-04T17:48:30+02:00"), utc);
        assert_eq!(Timestamp::parse_rfc3339("2026-06-04T15:48:30"), None);
        assert_eq!(Timestamp::parse_rfc3339("2026-06-04"), None);
        assert_eq!(Timestamp::parse_rfc3339(""), None);
    }
}
