//! Instants and durations as text.

use std::time::Duration;

use countersign_protocol::api::HubTime;

/// The two largest units: `45s`, `12m`, `3h 05m`, `2d 4h`.
pub fn duration_label(span: Duration) -> String {
    let seconds = span.as_secs();
    let minutes = seconds / 60;
    let hours = seconds / 3600;
    let days = seconds / 86_400;
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds}s"),
        (0, 0, _) => format!("{minutes}m"),
        (0, _, _) => format!("{hours}h {:02}m", minutes % 60),
        _ => format!("{days}d {}h", hours % 24),
    }
}

/// The instant and its distance from now.
pub fn instant_label(instant: &HubTime, now: jiff::Timestamp) -> String {
    match instant.remaining(now) {
        Duration::ZERO => format!("{instant} ({} ago)", duration_label(instant.age(now))),
        remaining => format!("{instant} (in {})", duration_label(remaining)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_told_in_their_largest_units() {
        for (seconds, text) in [
            (0, "0s"),
            (59, "59s"),
            (60, "1m"),
            (3600 * 3 + 300, "3h 05m"),
            (187_200, "2d 4h"),
        ] {
            assert_eq!(duration_label(Duration::from_secs(seconds)), text);
        }
    }

    #[test]
    fn instants_are_told_from_now() {
        let now: jiff::Timestamp = "2026-06-04T15:00:00Z".parse().unwrap();
        let instant = |text: &str| HubTime::from(text.to_owned());
        let past = instant_label(&instant("2026-06-04T14:48:00.000Z"), now);
        assert_eq!(past, "2026-06-04T14:48:00.000Z (12m ago)");
        let coming = instant_label(&instant("2026-06-04T15:00:30Z"), now);
        assert_eq!(coming, "2026-06-04T15:00:30Z (in 30s)");
        assert_eq!(instant("soon\u{1b}").to_string(), "soon\\u{1b}");
    }
}
