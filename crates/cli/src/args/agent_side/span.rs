//! Spans and instants as people type them.

use std::time::Duration;

use countersign_agent::Timestamp;

/// Longer than anything waits; keeps sums of instants far from their limits.
const LONGEST: Duration = Duration::from_secs(3660 * 24 * 3600);

/// `90s`, `10m`, `2h`, `3d`, or several of them in a row: `1h30m`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Span(pub Duration);

impl Span {
    pub fn read(text: &str) -> Result<Self, String> {
        let mut rest = text;
        let mut total = Duration::ZERO;
        while !rest.is_empty() {
            let end = rest.find(|letter: char| !letter.is_ascii_digit()).ok_or_else(not_a_span)?;
            let (digits, tail) = rest.split_at(end);
            let count: u64 = digits.parse().map_err(|_| not_a_span())?;
            let unit = tail.chars().next().ok_or_else(not_a_span)?;
            let seconds = seconds_in(unit).ok_or_else(not_a_span)?.checked_mul(count).ok_or_else(too_long)?;
            total = total.checked_add(Duration::from_secs(seconds)).ok_or_else(too_long)?;
            rest = &tail[unit.len_utf8()..];
        }
        match total {
            Duration::ZERO => Err(not_a_span()),
            total if total > LONGEST => Err(too_long()),
            total => Ok(Self(total)),
        }
    }
}

fn seconds_in(unit: char) -> Option<u64> {
    match unit {
        's' => Some(1),
        'm' => Some(60),
        'h' => Some(3600),
        'd' => Some(24 * 3600),
        _ => None,
    }
}

fn not_a_span() -> String {
    "write it as 90s, 10m, 2h or 3d".to_owned()
}

fn too_long() -> String {
    "that is longer than ten years".to_owned()
}

/// A span from now, or an instant.
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
    fn spans_are_read_in_their_units() {
        for (text, seconds) in [("90s", 90), ("10m", 600), ("2h", 7200), ("3d", 259_200), ("1h30m", 5400)] {
            assert_eq!(Span::read(text), Ok(Span(Duration::from_secs(seconds))), "{text}");
        }
    }

    #[test]
    fn what_is_no_span_is_refused() {
        for text in ["", "10", "m", "0s", "-1s", "1.5h", "10 m", "2w", "1h30", "٣h", "99999999999999999999s"] {
            assert!(Span::read(text).is_err(), "{text}");
        }
        for text in ["18446744073709551615d", "4000d", "18446744073709551615s1s"] {
            assert_eq!(Span::read(text), Err(too_long()), "{text}");
        }
    }

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
