//! Words the pages share: how long, until when, and what became of it.

use std::time::Duration;

use countersign_core::{Matter, Message};
use countersign_hub::inbox::outcome::answer_words;
use countersign_protocol::time::Timestamp;

/// An instant for a `<time>`: a script turns it into the reader's zone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instant {
    pub ms: i64,
    pub iso: String,
    pub text: String,
}

pub fn instant(at: Timestamp) -> Instant {
    let iso = at.to_string();
    let text = match (iso.get(..10), iso.get(11..16)) {
        (Some(date), Some(time)) => format!("{date} {time} UTC"),
        _ => iso.clone(),
    };
    Instant {
        ms: at.as_millis(),
        iso,
        text,
    }
}

/// In its two largest units: `4 min 10 s`, `2 h 5 min`, `3 d 4 h`.
pub fn span(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let minutes = seconds / 60;
    let hours = seconds / 3600;
    let days = seconds / 86_400;
    let two = |large: u64, large_unit: &str, small: u64, small_unit: &str| match small {
        0 => format!("{large} {large_unit}"),
        _ => format!("{large} {large_unit} {small} {small_unit}"),
    };
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => two(minutes, "min", seconds % 60, "s"),
        3600..86_400 => two(hours, "h", minutes % 60, "min"),
        _ => two(days, "d", hours % 24, "h"),
    }
}

/// As people count bytes.
pub fn size(bytes: u64) -> String {
    const KIB: u64 = 1024;
    const MIB: u64 = 1024 * KIB;
    match bytes {
        1 => "1 byte".to_owned(),
        0..KIB => format!("{bytes} bytes"),
        KIB..MIB => format!("{} KiB", bytes / KIB),
        _ if bytes.is_multiple_of(MIB) => format!("{} MiB", bytes / MIB),
        _ => format!("{}.{} MiB", bytes / MIB, bytes % MIB * 10 / MIB),
    }
}

/// How long something has waited, in one unit.
pub fn waited(since: Timestamp, now: Timestamp) -> String {
    let seconds = now.since(since).as_secs();
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        3600..86_400 => format!("{} h", seconds / 3600),
        _ => format!("{} d", seconds / 86_400),
    }
}

const WARNING: Duration = Duration::from_secs(15 * 60);
const STALE: Duration = Duration::from_secs(2 * 3600);

pub fn freshness(since: Timestamp, now: Timestamp) -> &'static str {
    match now.since(since) {
        age if age >= STALE => "stale",
        age if age >= WARNING => "warning",
        _ => "fresh",
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expiry {
    pub at: Instant,
    /// How long from now.
    pub left: String,
    /// What happens then.
    pub words: String,
}

/// Only a declared default ever answers by itself.
pub fn expiry(message: &Message, now: Timestamp) -> Option<Expiry> {
    let at = message.expires_at?;
    let default = match &message.content.matter {
        Matter::Ask(ask) => ask.default_on_expire.as_ref().filter(|default| !default.is_null()),
        Matter::Task(_) | Matter::Notify => None,
    };
    let words = match default {
        None => "ends without an answer".to_owned(),
        Some(value) => match answer_words(value, &message.content) {
            Some(answer) => format!("will answer “{answer}” by itself"),
            None => "will answer with its default by itself".to_owned(),
        },
    };
    Some(Expiry {
        at: instant(at),
        left: span(at.since(now)),
        words,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_told_in_one_unit() {
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
    fn spans_have_two_units_at_most() {
        let words = |seconds| span(Duration::from_secs(seconds));
        assert_eq!([words(0), words(59), words(60)], ["0 s", "59 s", "1 min"]);
        assert_eq!(
            [words(250), words(7500), words(90_000)],
            ["4 min 10 s", "2 h 5 min", "1 d 1 h"]
        );
    }

    #[test]
    fn what_waits_grows_stale() {
        assert_eq!(freshness(at(0), at(899)), "fresh");
        assert_eq!(freshness(at(0), at(900)), "warning");
        assert_eq!(freshness(at(0), at(7200)), "stale");
        assert_eq!(waited(at(0), at(7300)), "2 h");
        // The agent's clock or ours may be set back.
        assert_eq!(waited(at(10), at(0)), "0 s");
    }

    #[test]
    fn instants_are_told_in_utc_until_a_script_knows_better() {
        let told = instant(Timestamp::from_millis(1_780_000_000_000));
        assert_eq!(
            (told.iso.as_str(), told.text.as_str()),
            ("2026-05-28T20:26:40.000Z", "2026-05-28 20:26 UTC")
        );
    }
}
