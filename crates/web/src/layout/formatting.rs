//! Formatting that the pages share: times, durations, sizes and outcomes.

use std::fmt::Display;
use std::time::Duration;

use countersign_core::outcome;
use countersign_core::vocabulary;
use countersign_core::{Actor, Message};
use countersign_protocol::time::Timestamp;

use crate::language::{counted, fill, say, t};

/// A time for a `<time>` element; a script converts it to the user's time zone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DisplayTime {
    pub ms: i64,
    pub iso: String,
    pub text: String,
}

pub fn display_time(at: Timestamp) -> DisplayTime {
    let iso = at.to_string();
    let text = match (iso.get(..10), iso.get(11..16)) {
        (Some(date), Some(time)) => format!("{date} {time} UTC"),
        _ => iso.clone(),
    };
    DisplayTime {
        ms: at.as_millis(),
        iso,
        text,
    }
}

/// Formats a number of bytes.
pub fn size(bytes: u64) -> String {
    const KIB: u64 = 1024;
    const MIB: u64 = 1024 * KIB;
    match bytes {
        0..KIB => counted(bytes, "1 byte", "{count} bytes"),
        KIB..MIB => format!("{} KiB", bytes / KIB),
        _ if bytes.is_multiple_of(MIB) => format!("{} MiB", bytes / MIB),
        _ => format!("{}.{} MiB", bytes / MIB, bytes % MIB * 10 / MIB),
    }
}

/// A person by name alone, the hub by the product's name, an agent by the whole id.
pub fn actor_name(actor: &Actor) -> &str {
    let is_hub = actor.as_str().starts_with("system:");
    actor
        .person_name()
        .unwrap_or(if is_hub { "Countersign" } else { actor.as_str() })
}

/// Formats the time since `since` in one unit.
pub fn waited(since: Timestamp, now: Timestamp) -> String {
    let seconds = now.since(since).as_secs();
    match seconds {
        0..60 => in_unit(seconds, "s"),
        60..3600 => in_unit(seconds / 60, "min"),
        3600..86_400 => in_unit(seconds / 3600, "h"),
        _ => in_unit(seconds / 86_400, "d"),
    }
}

/// Formats a duration in its two largest units: `4 min 10 s`.
pub fn span(duration: Duration) -> String {
    in_units(&vocabulary::span(duration))
}

/// Translates a duration of the vocabulary.
pub fn in_units(english: &str) -> String {
    let words: Vec<&str> = english.split(' ').collect();
    let pairs = words.chunks_exact(2).map(|pair| in_unit(pair[0], pair[1]));
    pairs.collect::<Vec<_>>().join(" ")
}

fn in_unit(count: impl Display, unit: &str) -> String {
    let phrase = match unit {
        "s" => t("{count} s"),
        "min" => t("{count} min"),
        "h" => t("{count} h"),
        _ => t("{count} d"),
    };
    fill(phrase, &[("count", &count)])
}

const WARNING_AGE: Duration = Duration::from_secs(15 * 60);
const STALE_AGE: Duration = Duration::from_secs(2 * 3600);

pub fn freshness(since: Timestamp, now: Timestamp) -> &'static str {
    match now.since(since) {
        age if age >= STALE_AGE => "stale",
        age if age >= WARNING_AGE => "warning",
        _ => "fresh",
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expiry {
    pub at: DisplayTime,
    /// The time left.
    pub left: String,
    /// The effect of the expiry.
    pub text: String,
    /// The same in a few words, for a row.
    pub short: String,
}

/// The expiry of a message. A message answers by itself only if its asker declared a default.
pub fn expiry(message: &Message, now: Timestamp) -> Option<Expiry> {
    let at = message.expires_at?;
    let short = match outcome::default_answer(&message.content, t) {
        None => t("unanswered").to_owned(),
        Some(Some(answer)) => say!("then answers “{answer}”", answer = answer),
        Some(None) => t("then answers its default").to_owned(),
    };
    Some(Expiry {
        at: display_time(at),
        left: span(at.since(now)),
        text: outcome::at_expiry(&message.content, t),
        short,
    })
}

#[cfg(test)]
mod tests {
    use countersign_core::Language;

    use super::*;
    use crate::layout::look::in_language;

    #[test]
    fn sizes_have_one_unit() {
        assert_eq!([size(0), size(1), size(1023)], ["0 bytes", "1 byte", "1023 bytes"]);
        assert_eq!(
            [size(1024), size(8 << 20), size(1_600_000)],
            ["1 KiB", "8 MiB", "1.5 MiB"]
        );
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(1_780_000_000_000 + seconds * 1000)
    }

    #[test]
    fn durations_are_in_the_language_of_the_reader() {
        let long = Duration::from_secs(250);
        assert_eq!(span(long), "4 min 10 s");
        assert_eq!(in_language(Language::German, || span(long)), "4 min 10 s");
        assert_eq!(in_language(Language::Chinese, || span(long)), "4 分钟 10 秒");
    }

    #[test]
    fn waiting_items_grow_stale() {
        assert_eq!(freshness(at(0), at(899)), "fresh");
        assert_eq!(freshness(at(0), at(900)), "warning");
        assert_eq!(freshness(at(0), at(7200)), "stale");
        assert_eq!(waited(at(0), at(7300)), "2 h");
        // A clock may be set back.
        assert_eq!(waited(at(10), at(0)), "0 s");
    }

    #[test]
    fn times_are_shown_in_utc_without_scripts() {
        let time = display_time(Timestamp::from_millis(1_780_000_000_000));
        assert_eq!(
            (time.iso.as_str(), time.text.as_str()),
            ("2026-05-28T20:26:40.000Z", "2026-05-28 20:26 UTC")
        );
    }
}
