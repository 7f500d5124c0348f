//! The end of a snooze, in the user's time zone.

use countersign_hub::inbox::snooze;
use countersign_hub::problem::Problem;
use countersign_protocol::time::Timestamp;

use crate::layout::form::FormFields;

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
const MORNING: i64 = 9 * HOUR;
/// The largest UTC offset of any time zone.
const MAX_OFFSET_MINUTES: i64 = 14 * 60;

/// Reads the field `until`, or the date and time in `at`. `tz` is the number of minutes that the user's clock is
/// behind UTC.
pub fn until(fields: &FormFields, now: Timestamp) -> Result<Timestamp, Problem> {
    let behind = behind_utc(fields.text("tz"))?;
    let at = match fields.text("until") {
        "15m" => in_millis(now, 15 * MINUTE),
        "1h" => in_millis(now, HOUR),
        "4h" => in_millis(now, 4 * HOUR),
        "tomorrow" => morning_in(now, behind, 1),
        "monday" => morning_in(now, behind, days_to_monday(now, behind)),
        "" | "at" => wall_clock(fields.text("at"), behind)?,
        _ => {
            return Err(Problem::invalid(
                "until",
                "choose 15m, 1h, 4h, tomorrow or monday, or give a date and time",
            ));
        }
    };
    snooze::check_until(at, now)
}

/// A time that the page offers.
pub struct SnoozeTime {
    pub value: &'static str,
    pub label: &'static str,
}

/// The times that end before the expiry wherever the user is.
pub fn snooze_times(expires_at: Option<Timestamp>, now: Timestamp) -> Vec<SnoozeTime> {
    let times = [
        ("15m", "15 min", in_millis(now, 15 * MINUTE)),
        ("1h", "1 hour", in_millis(now, HOUR)),
        ("4h", "4 hours", in_millis(now, 4 * HOUR)),
        ("tomorrow", "Tomorrow", in_millis(now, DAY + MORNING)),
        ("monday", "Monday", in_millis(now, 7 * DAY + MORNING)),
    ];
    times
        .into_iter()
        .filter(|(.., at)| expires_at.is_none_or(|expires_at| *at < expires_at))
        .map(|(value, label, _)| SnoozeTime { value, label })
        .collect()
}

fn in_millis(now: Timestamp, millis: i64) -> Timestamp {
    Timestamp::from_millis(now.as_millis().saturating_add(millis))
}

fn behind_utc(text: &str) -> Result<i64, Problem> {
    let minutes = if text.is_empty() { Ok(0) } else { text.parse() };
    match minutes {
        Ok(minutes) if (-MAX_OFFSET_MINUTES..=MAX_OFFSET_MINUTES).contains(&minutes) => Ok(minutes * MINUTE),
        Ok(_) | Err(_) => Err(Problem::invalid("tz", "give the minutes your clock is behind UTC")),
    }
}

/// Days since 1970 in the user's time zone.
fn day(now: Timestamp, behind: i64) -> i64 {
    (now.as_millis() - behind).div_euclid(DAY)
}

fn morning_in(now: Timestamp, behind: i64, days: i64) -> Timestamp {
    Timestamp::from_millis((day(now, behind) + days) * DAY + MORNING + behind)
}

/// On a Monday this is 7, the next Monday.
fn days_to_monday(now: Timestamp, behind: i64) -> i64 {
    // The first day of 1970 was a Thursday, three days after a Monday.
    let since_monday = (day(now, behind) + 3).rem_euclid(7);
    7 - since_monday
}

/// Browsers send `2026-11-16T09:00`, some of them with seconds.
fn wall_clock(text: &str, behind: i64) -> Result<Timestamp, Problem> {
    let seconds = if text.len() == "2026-11-16T09:00".len() {
        ":00Z"
    } else {
        "Z"
    };
    let read = Timestamp::parse_rfc3339(&format!("{text}{seconds}"));
    let read = read.ok_or_else(|| Problem::invalid("at", "give a date and a time, such as 2026-11-16T09:00"))?;
    Ok(in_millis(read, behind))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A Thursday.
    const NOW: &str = "2026-05-28T20:26:40.000Z";

    fn set(query: &str, now: &str) -> Result<String, Problem> {
        let now = Timestamp::parse_rfc3339(now).expect("an instant");
        until(&FormFields::parse(query.as_bytes()), now).map(|at| at.to_string())
    }

    #[track_caller]
    fn comes_back(query: &str, at: &str) {
        assert_eq!(set(query, NOW), Ok(at.to_owned()), "{query}");
    }

    #[test]
    fn short_snoozes_count_from_now() {
        comes_back("until=15m", "2026-05-28T20:41:40.000Z");
        comes_back("until=1h&tz=-120", "2026-05-28T21:26:40.000Z");
        comes_back("until=4h&at=", "2026-05-29T00:26:40.000Z");
    }

    #[test]
    fn offered_times_end_before_the_expiry() {
        let now = Timestamp::parse_rfc3339(NOW).expect("an instant");
        let offered = |left: Option<i64>| {
            let times = snooze_times(left.map(|left| in_millis(now, left)), now);
            times.into_iter().map(|time| time.value).collect::<Vec<_>>()
        };
        assert_eq!(offered(None), ["15m", "1h", "4h", "tomorrow", "monday"]);
        assert_eq!(offered(Some(54 * MINUTE)), ["15m"]);
        assert_eq!(offered(Some(20 * HOUR)), ["15m", "1h", "4h"]);
        assert!(offered(Some(15 * MINUTE)).is_empty());
    }

    #[test]
    fn tomorrow_and_monday_are_mornings_in_the_users_zone() {
        comes_back("until=tomorrow", "2026-05-29T09:00:00.000Z");
        // In Berlin it is still Thursday, in Tokyo it is Friday already.
        comes_back("until=tomorrow&tz=-120", "2026-05-29T07:00:00.000Z");
        comes_back("until=tomorrow&tz=-540", "2026-05-30T00:00:00.000Z");
        comes_back("until=tomorrow&tz=420", "2026-05-29T16:00:00.000Z");
        comes_back("until=monday", "2026-06-01T09:00:00.000Z");
        assert_eq!(
            set("until=monday", "2026-06-01T08:00:00Z"),
            Ok("2026-06-08T09:00:00.000Z".to_owned())
        );
        assert_eq!(
            set("until=monday", "2026-05-31T23:59:59Z"),
            Ok("2026-06-01T09:00:00.000Z".to_owned())
        );
    }

    #[test]
    fn date_and_time_are_read_in_the_users_zone() {
        comes_back("at=2026-05-30T10:15", "2026-05-30T10:15:00.000Z");
        comes_back("until=at&at=2026-05-30T10:15&tz=-330", "2026-05-30T04:45:00.000Z");
        comes_back("at=2026-05-30T10:15:30", "2026-05-30T10:15:30.000Z");
    }

    #[test]
    fn invalid_or_past_time_is_refused_by_field() {
        for (query, field) in [
            ("", "at"),
            ("at=soon", "at"),
            ("at=2026-05-30", "at"),
            ("until=never", "until"),
            ("at=2026-05-28T20:26", "until"),
            ("at=2027-05-28T20:26", "until"),
            ("until=1h&tz=east", "tz"),
            ("until=1h&tz=9999999", "tz"),
        ] {
            let refused = set(query, NOW).expect_err(query);
            assert_eq!(refused.field(), Some(field), "{query}");
        }
    }
}
