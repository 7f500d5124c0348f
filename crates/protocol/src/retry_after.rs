//! The `Retry-After` header.

use std::time::Duration;

use crate::time::Timestamp;

/// Parses seconds or an HTTP date.
pub fn read(text: &str, now: Timestamp) -> Option<Duration> {
    let text = text.trim();
    match text.parse() {
        Ok(seconds) => Some(Duration::from_secs(seconds)),
        Err(_) => Some(http_date(text)?.since(now)),
    }
}

/// `Sun, 06 Nov 1994 08:49:37 GMT`; the obsolete formats are not supported.
fn http_date(text: &str) -> Option<Timestamp> {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let words: Vec<&str> = text.split(' ').collect();
    let [_, day, month, year, time, "GMT"] = words[..] else {
        return None;
    };
    let month = MONTHS.iter().position(|name| *name == month)? + 1;
    Timestamp::parse_rfc3339(&format!("{year}-{month:02}-{day}T{time}Z"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_and_dates_are_parsed() {
        let now = Timestamp::parse_rfc3339("2026-11-16T12:00:00Z").unwrap();
        assert_eq!(read("30", now), Some(Duration::from_secs(30)));
        assert_eq!(read("Sun, 06 Nov 1994 08:49:37 GMT", now), Some(Duration::ZERO));
        assert_eq!(
            read(" Mon, 16 Nov 2026 12:01:30 GMT ", now),
            Some(Duration::from_secs(90))
        );
        for text in ["", "-1", "soon", "Sun, 06 Foo 1994 08:49:37 GMT"] {
            assert_eq!(read(text, now), None, "{text}");
        }
    }
}
