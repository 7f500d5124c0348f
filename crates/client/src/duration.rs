//! Durations as people type them, shared by both programs.

use std::time::Duration;

/// Longer than any wait; keeps sums of instants far from overflow.
const MAX_SPAN: Duration = Duration::from_secs(3660 * 24 * 3600);

/// `90s`, `10m`, `2h`, `3d`, or several of them in a row: `1h30m`.
pub fn read(text: &str) -> Result<Duration, String> {
    let mut rest = text;
    let mut total = Duration::ZERO;
    while !rest.is_empty() {
        let end = rest
            .find(|letter: char| !letter.is_ascii_digit())
            .ok_or_else(not_a_span)?;
        let (digits, tail) = rest.split_at(end);
        let count: u64 = digits.parse().map_err(|_| not_a_span())?;
        let unit = tail.chars().next().and_then(seconds_in).ok_or_else(not_a_span)?;
        let seconds = unit.checked_mul(count).ok_or_else(too_long)?;
        total = total.checked_add(Duration::from_secs(seconds)).ok_or_else(too_long)?;
        rest = &tail[1..];
    }
    match total {
        Duration::ZERO => Err(not_a_span()),
        total if total > MAX_SPAN => Err(too_long()),
        total => Ok(total),
    }
}

fn not_a_span() -> String {
    "write it as 90s, 10m, 2h or 3d".to_owned()
}

pub fn too_long() -> String {
    "that is longer than ten years".to_owned()
}

fn seconds_in(unit: char) -> Option<u64> {
    match unit {
        's' => Some(1),
        'm' => Some(60),
        'h' => Some(3600),
        'd' => Some(24 * 3600),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read_in_their_units() {
        for (text, seconds) in [
            ("90s", 90),
            ("10m", 600),
            ("2h", 7200),
            ("3d", 259_200),
            ("1h30m", 5400),
        ] {
            assert_eq!(read(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
    }

    #[test]
    fn malformed_spans_are_refused() {
        for text in [
            "",
            "10",
            "m",
            "0s",
            "-1s",
            "1.5h",
            "10 m",
            "2w",
            "1h30",
            "٣h",
            "10é",
            "99999999999999999999s",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
        for text in ["18446744073709551615d", "4000d", "18446744073709551615s1s"] {
            assert_eq!(read(text), Err(too_long()), "{text}");
        }
    }
}
