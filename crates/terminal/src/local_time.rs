//! Instants in the reader's time zone.

use countersign_protocol::api::HubTime;
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// `15:04:05` today, with the date on any other day.
pub fn hub_time_label(instant: &HubTime, now: Timestamp, zone: &TimeZone) -> String {
    match instant.at() {
        Some(at) => time_label(at, now, zone),
        None => instant.to_string(),
    }
}

pub fn time_label(at: Timestamp, now: Timestamp, zone: &TimeZone) -> String {
    let then = at.to_zoned(zone.clone());
    let today = now.to_zoned(zone.clone());
    let format = if then.date() == today.date() {
        "%H:%M:%S"
    } else {
        "%Y-%m-%d %H:%M:%S"
    };
    then.strftime(format).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_date_is_shown_on_another_day_in_the_readers_zone() {
        let zone = TimeZone::fixed(jiff::tz::offset(2));
        let now = "2026-06-04T21:30:00Z".parse().unwrap();
        let shown = |text: &str| hub_time_label(&HubTime::from(text.to_owned()), now, &zone);
        assert_eq!(shown("2026-06-04T13:04:05.000Z"), "15:04:05");
        assert_eq!(shown("2026-06-04T22:30:00.000Z"), "2026-06-05 00:30:00");
        assert_eq!(shown("soon"), "soon");
    }
}
