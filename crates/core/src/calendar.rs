//! Days and hours of a time zone.

use std::iter;
use std::time::Duration;

use countersign_protocol::time::Timestamp;
use jiff::Zoned;
use jiff::civil::Date;
use jiff::tz::TimeZone;

const HOUR: Duration = Duration::from_secs(3600);
const HOUR_MS: i64 = 3_600_000;

pub fn zoned(at: Timestamp, zone: &TimeZone) -> Zoned {
    let instant = jiff::Timestamp::from_millisecond(at.as_millis()).unwrap_or_default();
    instant.to_zoned(zone.clone())
}

/// The first moment of a day; midnight, unless the clocks leap over it.
pub fn start_of_day(date: Date, zone: &TimeZone) -> Option<Timestamp> {
    let start = date.to_zoned(zone.clone()).ok()?;
    Some(Timestamp::from_millis(start.timestamp().as_millisecond()))
}

/// The starts of the last days, today last. A day has 23 or 25 hours where the clocks change.
pub fn last_days(now: Timestamp, zone: &TimeZone, count: usize) -> Vec<Timestamp> {
    let dates = iter::successors(Some(zoned(now, zone).date()), |date| date.yesterday().ok());
    let mut starts: Vec<Timestamp> = dates.take(count).filter_map(|date| start_of_day(date, zone)).collect();
    starts.reverse();
    starts
}

/// The starts of the last hours, the current one last.
pub fn last_hours(now: Timestamp, zone: &TimeZone, count: u32) -> Vec<Timestamp> {
    let offset = i64::from(zoned(now, zone).offset().seconds()) * 1000;
    let into_hour = (now.as_millis() + offset).rem_euclid(HOUR_MS).unsigned_abs();
    let current = now.minus(Duration::from_millis(into_hour));
    (0..count).rev().map(|back| current.minus(HOUR * back)).collect()
}
