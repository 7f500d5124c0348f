//! Date and time controls. Browsers send a wall clock without a zone; schemas want an instant or a time with one. The
//! offset of the reader's zone comes in a hidden input, which a script fills in. Without scripts the wall clock is UTC.

use countersign_core::form::{Field, FieldKind};
use countersign_protocol::time::Timestamp;

use crate::layout::form::FormFields;

const MINUTE_MS: i64 = 60_000;
const DAY_MS: i64 = 24 * 60 * MINUTE_MS;
/// The largest UTC offset of any time zone.
const MAX_OFFSET_MINUTES: i64 = 14 * 60;
const MIDNIGHT: &str = "1970-01-01T";

/// The formats of a text that need a zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ZonedFormat {
    DateTime,
    Time,
}

impl ZonedFormat {
    pub fn of(field: &Field) -> Option<Self> {
        match &field.kind {
            FieldKind::Text { format, .. } if !field.sensitive => match format.as_deref() {
                Some("date-time") => Some(Self::DateTime),
                Some("time") => Some(Self::Time),
                Some(_) | None => None,
            },
            FieldKind::Text { .. }
            | FieldKind::Number { .. }
            | FieldKind::Boolean
            | FieldKind::Choice(_)
            | FieldKind::Choices(_) => None,
        }
    }

    /// The type of the input.
    pub fn input_type(self) -> &'static str {
        match self {
            Self::DateTime => "datetime-local",
            Self::Time => "time",
        }
    }

    /// The instant of a value of the schema; a time is on the first day of 1970.
    fn instant(self, text: &str) -> Option<Timestamp> {
        match self {
            Self::DateTime => Timestamp::parse_rfc3339(text),
            Self::Time => Timestamp::parse_rfc3339(&format!("{MIDNIGHT}{text}")),
        }
    }

    /// The value of the schema as the input shows it, in UTC; as short as its seconds allow.
    pub fn wall_clock(self, text: &str) -> Option<WallClock> {
        let at = self.instant(text)?;
        let within_day = at.as_millis().rem_euclid(DAY_MS);
        let (end, step) = match within_day {
            millis if millis % 1000 != 0 => (23, "0.001"),
            millis if millis % MINUTE_MS != 0 => (19, "1"),
            _ => (16, ""),
        };
        let start = match self {
            Self::DateTime => 0,
            Self::Time => MIDNIGHT.len(),
        };
        let value = at.to_string().get(start..end)?.to_owned();
        let utc_ms = match self {
            Self::DateTime => at.as_millis(),
            Self::Time => within_day,
        };
        Some(WallClock { value, step, utc_ms })
    }

    /// A wall clock with the offset of its zone; text that is no wall clock stays as it is, for the validator.
    fn with_zone(self, text: &str, behind_utc: i64) -> String {
        let clock = text.rsplit('T').next().unwrap_or(text);
        let seconds = if clock.len() == "09:00".len() { ":00" } else { "" };
        let zoned = format!("{text}{seconds}{}", offset(behind_utc));
        match self.instant(&zoned) {
            Some(_) => zoned,
            None => text.to_owned(),
        }
    }
}

/// The value of a date and time input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WallClock {
    pub value: String,
    /// Empty for the browser's own step of a minute.
    pub step: &'static str,
    /// The instant, or for a time the milliseconds since midnight, for the script that converts it to the reader's zone.
    pub utc_ms: i64,
}

/// The name of the hidden input with the offset.
pub fn zone_name(name: &str) -> String {
    format!("zone.{name}")
}

/// The submitted value with its zone. The agent's own default is returned letter by letter if the instant is the same.
pub fn zoned(field: &Field, fields: &FormFields, typed: String) -> String {
    let Some(format) = ZonedFormat::of(field).filter(|_| !typed.is_empty()) else {
        return typed;
    };
    let behind = fields.text(&zone_name(&field.name)).parse().unwrap_or_default();
    let zoned = format.with_zone(&typed, behind);
    let default = field.default.as_ref().and_then(|default| default.as_str());
    let is_default = |default: &&str| {
        let day = |text: &str| match format {
            ZonedFormat::DateTime => format.instant(text).map(Timestamp::as_millis),
            ZonedFormat::Time => format.instant(text).map(|at| at.as_millis().rem_euclid(DAY_MS)),
        };
        day(default).is_some() && day(default) == day(&zoned)
    };
    default.filter(is_default).map_or(zoned, str::to_owned)
}

/// `behind_utc` is in minutes, as browsers give it: -60 is an hour ahead of UTC.
fn offset(behind_utc: i64) -> String {
    if behind_utc == 0 || !(-MAX_OFFSET_MINUTES..=MAX_OFFSET_MINUTES).contains(&behind_utc) {
        return "Z".to_owned();
    }
    let sign = if behind_utc < 0 { '+' } else { '-' };
    let minutes = behind_utc.abs();
    format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60)
}

#[cfg(test)]
mod tests {
    use countersign_core::form::fields;
    use serde_json::{Value, json};

    use super::*;

    fn sent(property: Value, query: &str) -> String {
        let sent = FormFields::parse(query.as_bytes());
        let field = &fields(&json!({"properties": {"it": property}}))[0];
        zoned(field, &sent, sent.text("field.it").to_owned())
    }

    #[test]
    fn a_wall_clock_gets_the_offset_of_the_readers_zone_or_utc() {
        let moment = json!({"type": "string", "format": "date-time"});
        let time = json!({"type": "string", "format": "time"});
        for (property, query, value) in [
            (
                &moment,
                "field.it=2026-11-16T14:30&zone.it=-60",
                "2026-11-16T14:30:00+01:00",
            ),
            (
                &moment,
                "field.it=2026-11-16T14:30&zone.it=210",
                "2026-11-16T14:30:00-03:30",
            ),
            (&moment, "field.it=2026-11-16T14:30:05&zone.it=", "2026-11-16T14:30:05Z"),
            (
                &moment,
                "field.it=2026-11-16T14:30&zone.it=99999",
                "2026-11-16T14:30:00Z",
            ),
            (
                &moment,
                "field.it=2026-11-16T14:30:00Z&zone.it=-60",
                "2026-11-16T14:30:00Z",
            ),
            (&moment, "field.it=soon&zone.it=-60", "soon"),
            (&time, "field.it=14:30&zone.it=-60", "14:30:00+01:00"),
            (&time, "field.it=14:30", "14:30:00Z"),
        ] {
            assert_eq!(sent(property.clone(), query), value, "{query}");
        }
    }

    #[test]
    fn an_unchanged_default_comes_back_letter_by_letter() {
        let moment = json!({"type": "string", "format": "date-time", "default": "2026-11-16T14:30:00+01:00"});
        assert_eq!(
            sent(moment, "field.it=2026-11-16T08:30&zone.it=300"),
            "2026-11-16T14:30:00+01:00"
        );
        let time = json!({"type": "string", "format": "time", "default": "23:30:00Z"});
        assert_eq!(sent(time, "field.it=00:30&zone.it=-60"), "23:30:00Z");
    }

    #[test]
    fn a_default_is_shown_in_utc_as_short_as_possible() {
        let shown = |format: ZonedFormat, text: &str| format.wall_clock(text).map(|clock| (clock.value, clock.step));
        let wall = |value: &str, step| Some((value.to_owned(), step));
        assert_eq!(
            shown(ZonedFormat::DateTime, "2026-11-16T14:30:00+01:00"),
            wall("2026-11-16T13:30", "")
        );
        assert_eq!(
            shown(ZonedFormat::DateTime, "2026-11-16T14:30:05Z"),
            wall("2026-11-16T14:30:05", "1")
        );
        assert_eq!(shown(ZonedFormat::Time, "00:30:00+01:00"), wall("23:30", ""));
        assert_eq!(shown(ZonedFormat::Time, "noon"), None);
    }
}
