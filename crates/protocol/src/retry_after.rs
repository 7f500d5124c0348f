//! The `Retry-After` header.

use std::time::{Duration, SystemTime};

/// Parses seconds or an HTTP date. A date whose weekday is wrong is not one.
pub fn read(text: &str, now: SystemTime) -> Option<Duration> {
    match text.trim().parse() {
        Ok(seconds) => Some(Duration::from_secs(seconds)),
        Err(_) => {
            let date = httpdate::parse_http_date(text).ok()?;
            Some(date.duration_since(now).unwrap_or_default())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_and_dates_are_parsed() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_794_830_400);
        assert_eq!(read("30", now), Some(Duration::from_secs(30)));
        assert_eq!(read("Sun, 06 Nov 1994 08:49:37 GMT", now), Some(Duration::ZERO));
        assert_eq!(
            read(" Mon, 16 Nov 2026 12:01:30 GMT ", now),
            Some(Duration::from_secs(90))
        );
        assert!(read("Thu, 31 Dec 9998 23:59:59 GMT", now) > Some(Duration::from_secs(3600)));
        for text in ["", "-1", "soon", "Sun, 06 Foo 1994 08:49:37 GMT"] {
            assert_eq!(read(text, now), None, "{text}");
        }
    }
}
