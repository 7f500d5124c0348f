//! Compares this machine's clock with the hub's. Push receivers refuse signatures that are too old or too new.

use std::time::Duration;

use super::Finding;

const WARN_SKEW: Duration = Duration::from_secs(5);
const MAX_SKEW: Duration = Duration::from_secs(120);

/// `hub_date` is the Date header of a reply that arrived at `now`.
pub fn check(hub_date: &str, now: jiff::Timestamp) -> Finding {
    let parser = jiff::fmt::rfc2822::DateTimeParser::new();
    let Ok(hub_time) = parser.parse_timestamp(hub_date) else {
        return Finding::warn(
            "clock",
            "the hub's Date header is not a date",
            "check the proxy between this machine and the hub",
        );
    };
    let apart = now.duration_since(hub_time).unsigned_abs();
    let words = format!("this clock and the hub's are {}s apart", apart.as_secs());
    if apart > MAX_SKEW {
        Finding::fail("clock", words, "set the clocks: signatures this far apart are refused")
    } else if apart > WARN_SKEW {
        Finding::warn("clock", words, "synchronize the clocks with a time server")
    } else {
        Finding::ok("clock", "this clock and the hub's agree")
    }
}

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::*;

    #[test]
    fn clocks_may_differ_a_little() {
        let level = |now: &str| check("Thu, 04 Jun 2026 15:00:00 GMT", now.parse().unwrap()).level;
        assert_eq!(level("2026-06-04T15:00:01.900Z"), Level::Ok);
        assert_eq!(level("2026-06-04T14:59:50Z"), Level::Warn);
        assert_eq!(level("2026-06-04T15:02:01Z"), Level::Fail);
        assert_eq!(check("yesterday", jiff::Timestamp::UNIX_EPOCH).level, Level::Warn);
    }
}
