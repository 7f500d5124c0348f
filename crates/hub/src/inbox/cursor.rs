//! Page cursors as text.

use countersign_protocol::time::Timestamp;
use countersign_store::model::{Cursor, InboxSection, InboxWalk};
use countersign_store::ops::list::MAX_WAITING;

/// Two numbers, written as `first.second`.
pub fn parse_pair(text: &str) -> Option<(i64, i64)> {
    let (first, second) = text.split_once('.')?;
    Some((first.parse().ok()?, second.parse().ok()?))
}

/// A position in the inbox, written as `key.seq.walk`. The key of a message that ends soon begins with `s`, that of one
/// whose agent waits with `w`.
pub fn inbox_cursor_text(cursor: &Cursor) -> String {
    let prefix = match cursor.section {
        InboxSection::Soon => "s",
        InboxSection::Waiting => "w",
        InboxSection::Rest => "",
    };
    let place = format!("{prefix}{}.{}", cursor.key, cursor.seq);
    match &cursor.walk {
        Some(walk) => format!("{place}.{}", walk_text(walk)),
        None => place,
    }
}

/// What all pages of one walk share, written as `soon_before` or `soon_before.seq-seq`.
pub fn walk_text(walk: &InboxWalk) -> String {
    let waiting: Vec<String> = walk.waiting.iter().map(ToString::to_string).collect();
    match waiting[..] {
        [] => walk.soon_before.as_millis().to_string(),
        [..] => format!("{}.{}", walk.soon_before.as_millis(), waiting.join("-")),
    }
}

/// Without a walk, as cursors once were, a new one starts at the position.
pub fn parse_inbox_cursor(text: &str) -> Option<Cursor> {
    let mut parts = text.split('.');
    let key = parts.next()?;
    let (section, key) = match (key.strip_prefix('s'), key.strip_prefix('w')) {
        (Some(key), _) => (InboxSection::Soon, key),
        (None, Some(key)) => (InboxSection::Waiting, key),
        (None, None) => (InboxSection::Rest, key),
    };
    let cursor = Cursor {
        section,
        key: key.parse().ok()?,
        seq: parts.next()?.parse().ok()?,
        walk: parts
            .next()
            .map(|soon_before| parse_walk(soon_before, parts.next()))
            .map_or(Some(None), |walk| walk.map(Some))?,
    };
    parts.next().is_none().then_some(cursor)
}

/// Reads what `walk_text` wrote.
pub fn parse_walk_text(text: &str) -> Option<InboxWalk> {
    let mut parts = text.splitn(2, '.');
    parse_walk(parts.next()?, parts.next())
}

fn parse_walk(soon_before: &str, waiting: Option<&str>) -> Option<InboxWalk> {
    let waiting = waiting.map_or(Some(Vec::new()), |seqs| {
        seqs.split('-')
            .map(|seq| seq.parse::<u64>().ok().and_then(|seq| i64::try_from(seq).ok()))
            .take(MAX_WAITING + 1)
            .collect()
    })?;
    (waiting.len() <= MAX_WAITING).then_some(InboxWalk {
        soon_before: Timestamp::from_millis(soon_before.parse().ok()?),
        waiting,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursor_is_exactly_two_numbers() {
        assert_eq!(parse_pair("2.7"), Some((2, 7)));
        assert_eq!(parse_pair("-1.1780000000000"), Some((-1, 1_780_000_000_000)));
        for nonsense in ["", "2", "2.", ".7", "2.7.1", "2.x", "2,7", "99999999999999999999.1"] {
            assert_eq!(parse_pair(nonsense), None, "{nonsense}");
        }
    }

    #[test]
    fn inbox_cursor_is_read_as_it_was_written() {
        let walk = |waiting: &[i64]| InboxWalk {
            soon_before: Timestamp::from_millis(1_780_000_000_000),
            waiting: waiting.to_vec(),
        };
        for (section, walk) in [
            (InboxSection::Soon, Some(walk(&[]))),
            (InboxSection::Waiting, Some(walk(&[7, 12]))),
            (InboxSection::Rest, Some(walk(&[7]))),
            (InboxSection::Rest, None),
        ] {
            let cursor = Cursor {
                section,
                key: 2,
                seq: 7,
                walk,
            };
            assert_eq!(parse_inbox_cursor(&inbox_cursor_text(&cursor)), Some(cursor));
        }
    }

    #[test]
    fn cursors_of_earlier_versions_still_work() {
        assert_eq!(parse_inbox_cursor("2.7"), Some(Cursor::of_rank(2, 7)));
    }

    #[test]
    fn nonsense_is_no_inbox_cursor() {
        let many = format!("2.7.1.{}", vec!["1"; MAX_WAITING + 1].join("-"));
        for nonsense in [
            "",
            "2",
            "2.",
            "x2.7",
            "ss2.7",
            "2.7.",
            "2.7.1.",
            "2.7.1.a",
            "2.7.1.2.3",
            &many,
        ] {
            assert_eq!(parse_inbox_cursor(nonsense), None, "{nonsense}");
        }
    }
}
