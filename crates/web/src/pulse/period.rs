//! The period that Pulse covers, in steps: hours, or days of the reader's time zone.

use std::iter;
use std::time::Duration;

use countersign_protocol::time::Timestamp;
use jiff::Zoned;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::language::{fill, t};

const HOUR: Duration = Duration::from_secs(3600);
const HOUR_MS: i64 = 3_600_000;
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

    fn step_count(self) -> u32 {
        match self {
            Self::Day => 24,
            Self::Week => 7,
            Self::Month => 30,
        }
    }
}

/// The steps of a period up to now. A day has 23 or 25 hours where the clocks change.
#[derive(Debug, Clone)]
pub struct Timeline {
    period: Period,
    zone: TimeZone,
    /// The first moment of each step; the last one holds now.
    starts: Vec<Timestamp>,
}

impl Timeline {
    pub fn until(now: Timestamp, period: Period, zone: TimeZone) -> Self {
        let here = zoned(now, &zone);
        let mut starts = match period {
            Period::Day => hours(now, &here, period.step_count()),
            Period::Week | Period::Month => days(here.date(), &zone, period.step_count()),
        };
        starts.reverse();
        Self { period, zone, starts }
    }

    /// The start of the first step.
    pub fn since(&self) -> Timestamp {
        self.starts.first().copied().unwrap_or(Timestamp::from_millis(0))
    }

    pub fn step_count(&self) -> usize {
        self.starts.len()
    }

    /// The number of the step that holds `at`.
    pub fn step_of(&self, at: Timestamp) -> usize {
        self.starts.partition_point(|start| *start <= at).saturating_sub(1)
    }

    /// The labels of the steps: `15:00` or `12 Nov`.
    pub fn labels(&self) -> impl Iterator<Item = String> {
        self.starts.iter().map(|start| {
            let at = zoned(*start, &self.zone);
            match self.period {
                Period::Day => format!("{:02}:{:02}", at.hour(), at.minute()),
                Period::Week | Period::Month => day_label(at.date()).unwrap_or_default(),
            }
        })
    }
}

fn zoned(at: Timestamp, zone: &TimeZone) -> Zoned {
    let instant = jiff::Timestamp::from_millisecond(at.as_millis()).unwrap_or_default();
    instant.to_zoned(zone.clone())
}

/// The starts of the last hours, the current one first.
fn hours(now: Timestamp, here: &Zoned, count: u32) -> Vec<Timestamp> {
    let offset = i64::from(here.offset().seconds()) * 1000;
    let into_hour = (now.as_millis() + offset).rem_euclid(HOUR_MS).unsigned_abs();
    let current = now.minus(Duration::from_millis(into_hour));
    (0..count).map(|back| current.minus(HOUR * back)).collect()
}

/// The starts of the last days, today first.
fn days(today: Date, zone: &TimeZone, count: u32) -> Vec<Timestamp> {
    let dates = iter::successors(Some(today), |date| date.yesterday().ok());
    let starts = dates.take(usize::try_from(count).unwrap_or_default());
    let starts = starts.filter_map(|date| date.to_zoned(zone.clone()).ok());
    starts
        .map(|start| Timestamp::from_millis(start.timestamp().as_millisecond()))
        .collect()
}

/// `12 Nov` for a date.
fn day_label(date: Date) -> Option<String> {
    let month = usize::try_from(date.month()).ok()?;
    let label = DATES.get(month.checked_sub(1)?)?;
    Some(fill(t(label), &[("day", &date.day())]))
}

#[cfg(test)]
mod tests {
    use countersign_core::Language;

    use super::*;
    use crate::layout::look::in_language;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse_rfc3339(text).expect("a time")
    }

    fn timeline(period: Period, now: &str, zone: &str) -> Timeline {
        Timeline::until(at(now), period, TimeZone::get(zone).expect("a zone"))
    }

    fn ends(timeline: &Timeline) -> [String; 2] {
        let labels: Vec<String> = timeline.labels().collect();
        [labels[0].clone(), labels[labels.len() - 1].clone()]
    }

    #[test]
    fn last_step_holds_now_and_the_first_is_whole() {
        let now = "2026-03-02T15:04:05Z";
        let week = timeline(Period::Week, now, "UTC");
        assert_eq!((week.since(), week.step_count()), (at("2026-02-24T00:00:00Z"), 7));
        assert_eq!(week.step_of(at(now)), 6);
        assert_eq!(ends(&week), ["24 Feb", "2 Mar"]);
        let day = timeline(Period::Day, now, "UTC");
        assert_eq!((day.since(), day.step_count()), (at("2026-03-01T16:00:00Z"), 24));
        assert_eq!(day.step_of(at("2026-03-01T16:59:59Z")), 0);
        assert_eq!(day.step_of(at(now)), 23);
        assert_eq!(ends(&day), ["16:00", "15:00"]);
    }

    #[test]
    fn days_and_hours_are_those_of_the_zone() {
        // It is Tuesday already in Auckland, and still Sunday in Honolulu.
        let auckland = timeline(Period::Week, "2026-03-02T15:04:05Z", "Pacific/Auckland");
        assert_eq!(auckland.since(), at("2026-02-24T11:00:00Z"));
        assert_eq!(ends(&auckland), ["25 Feb", "3 Mar"]);
        let honolulu = timeline(Period::Week, "2026-03-02T05:00:00Z", "Pacific/Honolulu");
        assert_eq!(ends(&honolulu), ["23 Feb", "1 Mar"]);
        let kolkata = timeline(Period::Day, "2026-03-02T15:04:05Z", "Asia/Kolkata");
        assert_eq!(kolkata.since(), at("2026-03-01T15:30:00Z"));
        assert_eq!(ends(&kolkata), ["21:00", "20:00"]);
    }

    #[test]
    fn a_day_is_as_long_as_its_clocks_say() {
        // The clocks of Berlin go forward on 29 March: that day has 23 hours.
        let week = timeline(Period::Week, "2026-03-31T12:00:00Z", "Europe/Berlin");
        assert_eq!(week.since(), at("2026-03-24T23:00:00Z"));
        assert_eq!(week.step_of(at("2026-03-28T23:00:00Z")), 4);
        assert_eq!(week.step_of(at("2026-03-29T21:59:59Z")), 4);
        assert_eq!(week.step_of(at("2026-03-29T22:00:00Z")), 5);
        assert_eq!(ends(&week), ["25 Mar", "31 Mar"]);
    }

    #[test]
    fn days_are_in_the_language_of_the_reader() {
        let week = timeline(Period::Week, "2026-03-02T00:00:00Z", "UTC");
        let label = |language| in_language(language, || ends(&week)[1].clone());
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
