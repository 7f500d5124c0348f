//! The period that Pulse covers, in steps of an hour or a day. Days begin at midnight UTC.

use std::time::Duration;

use countersign_protocol::time::Timestamp;

use crate::language::{fill, t};

const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(24 * 3600);
/// A date in each month.
const DATES: [&str; 12] = [
    "{day} Jan",
    "{day} Feb",
    "{day} Mar",
    "{day} Apr",
    "{day} May",
    "{day} Jun",
    "{day} Jul",
    "{day} Aug",
    "{day} Sep",
    "{day} Oct",
    "{day} Nov",
    "{day} Dec",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Period {
    Day,
    Week,
    Month,
}

impl Period {
    pub const ALL: [Self; 3] = [Self::Day, Self::Week, Self::Month];

    /// Reads the number of days; a week if there is none.
    pub fn of(days: &str) -> Option<Self> {
        match days {
            "" => Some(Self::Week),
            _ => Self::ALL.into_iter().find(|period| period.days() == days),
        }
    }

    pub fn days(self) -> &'static str {
        match self {
            Self::Day => "1",
            Self::Week => "7",
            Self::Month => "30",
        }
    }

    pub fn label(self) -> &'static str {
        match self {
            Self::Day => "24 hours",
            Self::Week => "7 days",
            Self::Month => "30 days",
        }
    }

    pub fn step_count(self) -> u32 {
        match self {
            Self::Day => 24,
            Self::Week => 7,
            Self::Month => 30,
        }
    }

    fn step(self) -> Duration {
        match self {
            Self::Day => HOUR,
            Self::Week | Self::Month => DAY,
        }
    }

    /// The start of the first step; the last one holds `now`.
    pub fn start(self, now: Timestamp) -> Timestamp {
        let into_step = Duration::from_millis(now.as_millis().rem_euclid(self.step_millis()).unsigned_abs());
        now.minus(into_step).minus(self.step() * (self.step_count() - 1))
    }

    /// The number of the step that holds `at`.
    pub fn step_of(self, start: Timestamp, at: Timestamp) -> usize {
        let steps = (at.as_millis() - start.as_millis()).div_euclid(self.step_millis());
        usize::try_from(steps).unwrap_or_default()
    }

    /// `15:00` or `12 Nov`.
    pub fn label_of(self, start: Timestamp, nth: usize) -> String {
        let at = start.plus(self.step() * u32::try_from(nth).unwrap_or_default());
        let iso = at.to_string();
        match self {
            Self::Day => iso.get(11..16).unwrap_or_default().to_owned(),
            Self::Week | Self::Month => day_label(&iso).unwrap_or_default(),
        }
    }

    fn step_millis(self) -> i64 {
        i64::try_from(self.step().as_millis()).unwrap_or(i64::MAX)
    }
}

/// `12 Nov` for a date in the form of RFC 3339.
fn day_label(iso: &str) -> Option<String> {
    let month: usize = iso.get(5..7)?.parse().ok()?;
    let day: u32 = iso.get(8..10)?.parse().ok()?;
    let date = DATES.get(month.checked_sub(1)?)?;
    Some(fill(t(date), &[("day", &day)]))
}

#[cfg(test)]
mod tests {
    use countersign_core::Language;

    use super::*;
    use crate::layout::look::in_language;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse_rfc3339(text).expect("a time")
    }

    #[test]
    fn last_step_holds_now_and_the_first_is_whole() {
        let now = at("2026-03-02T15:04:05Z");
        let start = Period::Week.start(now);
        assert_eq!(start, at("2026-02-24T00:00:00Z"));
        assert_eq!(Period::Week.step_of(start, now), 6);
        assert_eq!(
            [0, 4, 6].map(|nth| Period::Week.label_of(start, nth)),
            ["24 Feb", "28 Feb", "2 Mar"]
        );
        let start = Period::Day.start(now);
        assert_eq!(start, at("2026-03-01T16:00:00Z"));
        assert_eq!(Period::Day.step_of(start, at("2026-03-01T16:59:59Z")), 0);
        assert_eq!(Period::Day.step_of(start, now), 23);
        assert_eq!(Period::Day.label_of(start, 23), "15:00");
    }

    #[test]
    fn days_are_in_the_language_of_the_reader() {
        let start = at("2026-03-02T00:00:00Z");
        let label = |language| in_language(language, || Period::Week.label_of(start, 0));
        assert_eq!(
            Language::ALL.map(label),
            ["2 Mar", "2. März", "3月2日"].map(str::to_owned)
        );
    }

    #[test]
    fn only_the_offered_periods_are_read() {
        assert_eq!(
            ["", "1", "7", "30"].map(Period::of),
            [
                Some(Period::Week),
                Some(Period::Day),
                Some(Period::Week),
                Some(Period::Month)
            ]
        );
        assert_eq!(["0", "31", "x"].map(Period::of), [None; 3]);
    }
}
