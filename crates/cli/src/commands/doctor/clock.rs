//! Compares this machine's clock with the hub's. Push receivers refuse signatures that are too old or too new.

use std::time::Duration;

use jiff::Timestamp;

use super::Finding;

const WARN_SKEW: Duration = Duration::from_secs(5);
const MAX_SKEW: Duration = Duration::from_secs(120);

/// `date` is the Date header of the hub's machine, `status_now` the clock that the hub goes by, known to owners only. On
/// PostgreSQL that is the clock of the database, and the one of the hub's machine does not matter.
pub fn check(date: Option<&str>, status_now: Option<&str>, this: Timestamp) -> Option<Finding> {
    let parser = jiff::fmt::rfc2822::DateTimeParser::new();
    let machine = match date.map(|date| parser.parse_timestamp(date)) {
        Some(Err(_)) => {
            return Some(Finding::warn(
                "clock",
                "the hub's Date header is not a date",
                "check the proxy between this machine and the hub",
            ));
        }
        Some(Ok(machine)) => Some(machine),
        None => None,
    };
    let hub = status_now.and_then(|now| now.parse().ok()).or(machine)?;
    let apart = apart(this, hub);
    let text = format!("this clock and the hub's are {}s apart", apart.as_secs());
    let is_hub_machine = machine.is_some_and(|machine| self::apart(this, machine) <= WARN_SKEW);
    Some(if apart <= WARN_SKEW {
        Finding::ok("clock", "this clock and the hub's agree")
    } else if is_hub_machine {
        let advice = "the hub goes by its database's clock, so this matters only to programs on this machine";
        Finding::warn("clock", text, advice)
    } else if apart <= MAX_SKEW {
        Finding::warn("clock", text, "synchronize the clocks with a time server")
    } else {
        Finding::fail("clock", text, "set the clocks: signatures this far apart are refused")
    })
}

fn apart(one: Timestamp, other: Timestamp) -> Duration {
    one.duration_since(other).unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::*;

    const DATE: Option<&str> = Some("Thu, 04 Jun 2026 15:00:00 GMT");

    fn level(status_now: Option<&str>, this: &str) -> Level {
        check(DATE, status_now, this.parse().unwrap()).unwrap().level
    }

    #[test]
    fn clocks_may_differ_a_little() {
        for status_now in [None, Some("2026-06-04T15:00:00.123Z")] {
            assert_eq!(level(status_now, "2026-06-04T15:00:01.900Z"), Level::Ok);
            assert_eq!(level(status_now, "2026-06-04T14:59:50Z"), Level::Warn);
            assert_eq!(level(status_now, "2026-06-04T15:02:10Z"), Level::Fail);
        }
        let garbled = check(Some("yesterday"), None, Timestamp::UNIX_EPOCH).unwrap();
        assert_eq!(garbled.level, Level::Warn);
        assert!(check(None, None, Timestamp::UNIX_EPOCH).is_none());
    }

    #[test]
    fn clock_of_the_hubs_machine_is_a_note_where_the_database_decides() {
        let database = Some("2026-06-04T15:10:00Z");
        assert_eq!(level(database, "2026-06-04T15:00:01Z"), Level::Warn, "on that machine");
        assert_eq!(level(database, "2026-06-04T15:10:01Z"), Level::Ok, "on a receiver's");
        assert_eq!(level(database, "2026-06-04T15:20:00Z"), Level::Fail, "a wrong receiver");
    }
}
