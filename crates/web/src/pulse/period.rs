//! The period that Pulse covers, in steps: hours, or days of the reader's time zone.

use countersign_core::calendar::{last_days, last_hours, zoned};
use countersign_protocol::time::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::language::{fill, t};

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
}

/// The steps of a period up to now.
#[derive(Debug, Clone)]
pub struct Timeline {
    period: Period,
    zone: TimeZone,
    /// The first moment of each step; the last one holds now.
    pub starts: Vec<Timestamp>,
}

impl Timeline {
    pub fn until(now: Timestamp, period: Period, zone: TimeZone) -> Self {
        let starts = match period {
            Period::Day => last_hours(now, &zone, 24),
            Period::Week => last_days(now, &zone, 7),
            Period::Month => last_days(now, &zone, 30),
        };
        Self { period, zone, starts }
    }

    /// The start of the first step.
    pub fn since(&self) -> Timestamp {
        self.starts.first().copied().unwrap_or(Timestamp::from_millis(0))
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
        assert_eq!((week.since(), week.starts.len()), (at("2026-02-24T00:00:00Z"), 7));
        assert_eq!(ends(&week), ["24 Feb", "2 Mar"]);
        let day = timeline(Period::Day, now, "UTC");
        assert_eq!((day.since(), day.starts.len()), (at("2026-03-01T16:00:00Z"), 24));
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
        let around = ["2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z", "2026-03-30T22:00:00Z"].map(at);
        assert_eq!(week.starts[4..], around);
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
