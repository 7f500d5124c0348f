//! What a file looks like with our blocks in it, and without them. What its person wrote comes out as it went in.

use super::blocks::{Block, Broken, scan};

/// Everything with `\n` for its line endings.
#[derive(Debug)]
pub struct Wanted<'a> {
    /// What the file has to begin with, or nothing.
    pub prefix: &'a str,
    pub proto: &'a str,
    pub runtime: Option<&'a str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    Added,
    Updated,
    Unchanged,
    Removed,
    Skipped,
}

impl Change {
    pub fn word(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Updated => "updated",
            Self::Unchanged => "unchanged",
            Self::Removed => "removed",
            Self::Skipped => "skipped",
        }
    }
}

#[derive(Debug, PartialEq)]
pub struct Edited {
    pub text: String,
    pub prefix: Change,
    pub proto: Change,
    pub runtime: Change,
}

/// A byte order mark stays the very first thing.
const MARK: char = '\u{feff}';

pub fn apply(text: &str, wanted: &Wanted) -> Result<Edited, Broken> {
    let (mark, body) = split_mark(text);
    let (mut body, ending) = (body.to_owned(), ending(body));
    let is_new = !scan(&body)?.iter().any(|found| found.block == Block::Proto);
    let prefix = if is_new {
        put_prefix(&mut body, wanted.prefix, ending)
    } else {
        Change::Skipped
    };
    let proto = settle(&mut body, Block::Proto, Some(wanted.proto), ending)?;
    let runtime = settle(&mut body, Block::Runtime, wanted.runtime, ending)?;
    Ok(Edited {
        text: format!("{mark}{body}"),
        prefix,
        proto,
        runtime,
    })
}

/// `prefixes`: those that may have been put there. One goes when nothing else remains; an empty text says that the file is
/// no longer needed.
pub fn remove(text: &str, prefixes: &[&str]) -> Result<Edited, Broken> {
    let (mark, body) = split_mark(text);
    let (mut body, ending) = (body.to_owned(), ending(body));
    let proto = settle(&mut body, Block::Proto, None, ending)?;
    let runtime = settle(&mut body, Block::Runtime, None, ending)?;
    let left = body.replace("\r\n", "\n");
    let is_prefix = prefixes
        .iter()
        .any(|prefix| !prefix.is_empty() && left.trim() == prefix.trim());
    let is_ours = is_prefix || [proto, runtime].contains(&Change::Removed) && left.trim().is_empty();
    let text = if is_ours {
        String::new()
    } else {
        format!("{mark}{body}")
    };
    Ok(Edited {
        text,
        prefix: if is_prefix { Change::Removed } else { Change::Skipped },
        proto,
        runtime,
    })
}

fn split_mark(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with(MARK) { MARK.len_utf8() } else { 0 })
}

/// The one most lines have.
fn ending(text: &str) -> &'static str {
    let all = text.matches('\n').count();
    let windows = text.matches("\r\n").count();
    if windows * 2 > all { "\r\n" } else { "\n" }
}

fn with_ending(text: &str, ending: &str) -> String {
    text.replace("\r\n", "\n").replace('\n', ending)
}

/// Front matter counts only at the very top; anything else stands in front of the block.
fn put_prefix(body: &mut String, prefix: &str, ending: &str) -> Change {
    let prefix = with_ending(prefix.trim_end_matches('\n'), ending);
    let is_front_matter = prefix.starts_with("---");
    // A file has one front matter, and the person's own stays.
    let is_there = body.contains(&prefix) || is_front_matter && body.starts_with("---");
    if prefix.is_empty() || is_there {
        return Change::Skipped;
    }
    if is_front_matter && !body.trim().is_empty() {
        body.insert_str(0, &format!("{prefix}{ending}{ending}"));
    } else {
        append(body, &prefix, ending);
    }
    Change::Added
}

fn settle(body: &mut String, block: Block, wanted: Option<&str>, ending: &str) -> Result<Change, Broken> {
    let mut spans: Vec<_> = scan(body)?
        .into_iter()
        .filter(|found| found.block == block)
        .map(|found| found.span)
        .collect();
    let wanted = wanted.map(|wanted| with_ending(&block.render(wanted), ending));
    let first = if wanted.is_some() && !spans.is_empty() {
        Some(spans.remove(0))
    } else {
        None
    };
    // From the back, so that the places in front stay true.
    for span in spans.iter().rev() {
        cut(body, span.start, span.end);
    }
    Ok(match (first, wanted) {
        (None, None) if spans.is_empty() => Change::Skipped,
        (None | Some(_), None) => Change::Removed,
        (None, Some(wanted)) => {
            insert(body, block, &wanted, ending)?;
            Change::Added
        }
        (Some(span), Some(wanted)) if spans.is_empty() && body[span.clone()] == wanted => Change::Unchanged,
        (Some(span), Some(wanted)) => {
            body.replace_range(span, &wanted);
            Change::Updated
        }
    })
}

/// What one agent needs stands behind what all need; otherwise at the end.
fn insert(body: &mut String, block: Block, rendered: &str, ending: &str) -> Result<(), Broken> {
    let before = scan(body)?
        .into_iter()
        .find(|found| block == Block::Runtime && found.block == Block::Proto);
    match before {
        Some(proto) => body.insert_str(proto.span.end, &format!("{ending}{ending}{rendered}")),
        None => append(body, rendered, ending),
    }
    Ok(())
}

/// As a paragraph of its own.
fn append(body: &mut String, paragraph: &str, ending: &str) {
    if body.trim().is_empty() {
        body.clear();
    } else if !body.ends_with('\n') {
        body.push_str(ending);
    }
    if !body.is_empty() && !ends_blank(body) {
        body.push_str(ending);
    }
    body.push_str(paragraph);
    body.push_str(ending);
}

/// Takes the lines out, and one of the blank lines that stood around them.
fn cut(body: &mut String, start: usize, end: usize) {
    let after = &body[end..];
    let mut end = end + line_ending(after);
    let after_is_blank = end == body.len() || line_ending(&body[end..]) > 0;
    let mut start = start;
    if start == 0 {
        end += line_ending(&body[end..]);
    } else if after_is_blank && ends_blank(&body[..start]) {
        start -= if body[..start].ends_with("\r\n") { 2 } else { 1 };
    }
    body.replace_range(start..end, "");
}

fn line_ending(text: &str) -> usize {
    if text.starts_with("\r\n") {
        2
    } else {
        usize::from(text.starts_with('\n'))
    }
}

fn ends_blank(text: &str) -> bool {
    text.ends_with("\n\n") || text.ends_with("\n\r\n")
}

#[cfg(test)]
mod tests {
    use super::Change::*;
    use super::*;

    const FRONT: &str = "---\napplyTo: \"**\"\n---";
    const PROTO: &str = "<!-- HUMAN_AGENT_PROTO_BEGIN -->\nask first\n<!-- HUMAN_AGENT_PROTO_END -->\n";
    const RUNTIME: &str = "<!-- HUMAN_AGENT_RUNTIME_BEGIN -->\nwait long\n<!-- HUMAN_AGENT_RUNTIME_END -->\n";

    fn wanted(prefix: &'static str, runtime: Option<&'static str>) -> Wanted<'static> {
        Wanted {
            prefix,
            proto: "ask first\n",
            runtime,
        }
    }

    fn changes(edited: &Edited) -> [Change; 3] {
        [edited.prefix, edited.proto, edited.runtime]
    }

    #[track_caller]
    fn applied(text: &str, wanted: &Wanted, due: [Change; 3]) -> String {
        let edited = apply(text, wanted).unwrap();
        assert_eq!(changes(&edited), due);
        let again = apply(&edited.text, wanted).unwrap();
        assert_eq!(again.text, edited.text, "a second time changes nothing");
        assert_eq!((again.prefix, again.proto), (Skipped, Unchanged));
        edited.text
    }

    #[test]
    fn a_fresh_file_is_prefix_and_blocks() {
        let whole = applied("", &wanted(FRONT, Some("wait long")), [Added, Added, Added]);
        assert_eq!(whole, format!("{FRONT}\n\n{PROTO}\n{RUNTIME}"));
        assert_eq!(applied(" \n", &wanted("", None), [Skipped, Added, Skipped]), PROTO);
    }

    #[test]
    fn what_is_there_stays_and_the_blocks_come_after_it() {
        let plain = wanted("", Some("wait long"));
        for mine in ["# Mine", "# Mine\n", "# Mine\n\n"] {
            let whole = applied(mine, &plain, [Skipped, Added, Added]);
            assert_eq!(whole, format!("# Mine\n\n{PROTO}\n{RUNTIME}"));
            assert_eq!(remove(&whole, &[]).unwrap().text, "# Mine\n");
        }
    }

    #[test]
    fn a_block_is_replaced_where_it_stands() {
        let old = format!(
            "before\n{}after\n",
            PROTO.replace("ask first", "old\nwords").replace("HUMAN", "HUAMN")
        );
        let whole = applied(&old, &wanted(FRONT, None), [Skipped, Updated, Skipped]);
        assert_eq!(whole, format!("before\n{PROTO}after\n"));
        let whole = applied(&whole, &wanted("", Some("wait long")), [Skipped, Unchanged, Added]);
        assert_eq!(whole, format!("before\n{PROTO}\n{RUNTIME}after\n"));
        let longer = applied(&whole, &wanted("", Some("wait longer")), [Skipped, Unchanged, Updated]);
        assert!(longer.contains("wait longer"));
        let whole = applied(&longer, &wanted("", None), [Skipped, Unchanged, Removed]);
        assert_eq!(whole, format!("before\n{PROTO}\nafter\n"));
    }

    #[test]
    fn an_end_marker_may_be_the_very_end() {
        applied(PROTO.trim_end(), &wanted("", None), [Skipped, Unchanged, Skipped]);
        assert_eq!(remove(PROTO.trim_end(), &[]).unwrap().text, "");
    }

    #[test]
    fn a_second_block_goes() {
        let whole = applied(
            &format!("a\n\n{PROTO}\nb\n\n{PROTO}"),
            &wanted("", None),
            [Skipped, Updated, Skipped],
        );
        assert_eq!(whole, format!("a\n\n{PROTO}\nb\n"));
    }

    #[test]
    fn windows_line_endings_stay() {
        let plain = wanted(FRONT, Some("wait\nlong"));
        let whole = applied("# Mine\r\ntext\r\n", &plain, [Added, Added, Added]);
        assert_eq!(whole.matches('\n').count(), whole.matches("\r\n").count(), "{whole:?}");
        assert!(whole.starts_with("---\r\n"));
        let updated = apply(&whole, &wanted(FRONT, Some("wait longer"))).unwrap();
        assert_eq!(updated.runtime, Updated);
        assert_eq!(updated.text.matches('\n').count(), updated.text.matches("\r\n").count());
        let removed = remove(
            &applied("# Mine\r\n", &wanted("", None), [Skipped, Added, Skipped]),
            &[],
        )
        .unwrap();
        assert_eq!(removed.text, "# Mine\r\n");
    }

    #[test]
    fn the_rest_of_a_mixed_file_is_not_touched() {
        let whole = applied("a\r\nb\nc\n", &wanted("", None), [Skipped, Added, Skipped]);
        assert_eq!(whole, format!("a\r\nb\nc\n\n{PROTO}"));
    }

    #[test]
    fn front_matter_goes_to_the_top_and_never_twice() {
        let whole = applied("mine\n", &wanted(FRONT, None), [Added, Added, Skipped]);
        assert_eq!(whole, format!("{FRONT}\n\nmine\n\n{PROTO}"));
        let own = "---\napplyTo: \"src/**\"\n---\nmine\n";
        let whole = applied(own, &wanted(FRONT, None), [Skipped, Added, Skipped]);
        assert_eq!(whole, format!("{own}\n{PROTO}"));
        applied(&format!("{FRONT}\n"), &wanted(FRONT, None), [Skipped, Added, Skipped]);
    }

    #[test]
    fn any_other_prefix_stands_before_the_block() {
        let whole = applied("mine\n", &wanted("# Cueme", None), [Added, Added, Skipped]);
        assert_eq!(whole, format!("mine\n\n# Cueme\n\n{PROTO}"));
    }

    #[test]
    fn a_byte_order_mark_stays_first() {
        let whole = applied("\u{feff}mine\n", &wanted(FRONT, None), [Added, Added, Skipped]);
        assert!(whole.starts_with("\u{feff}---\n"));
        assert!(remove(&whole, &[FRONT]).unwrap().text.starts_with("\u{feff}---\n"));
        let marked = format!("\u{feff}{PROTO}");
        applied(&marked, &wanted("", None), [Skipped, Unchanged, Skipped]);
        assert_eq!(remove(&marked, &[]).unwrap().text, "");
    }

    #[test]
    fn removing_takes_the_prefix_when_nothing_else_remains() {
        for ending in ["\n", "\r\n"] {
            let whole = format!("{FRONT}\n\n{PROTO}\n{RUNTIME}").replace('\n', ending);
            let removed = remove(&whole, &["", FRONT]).unwrap();
            assert_eq!((changes(&removed), removed.text.as_str()), ([Removed; 3], ""));
        }
        let kept = remove(&format!("{FRONT}\n\nmine\n\n{PROTO}"), &[FRONT]).unwrap();
        assert_eq!(
            (changes(&kept), kept.text),
            ([Skipped, Removed, Skipped], format!("{FRONT}\n\nmine\n"))
        );
        let left_behind = remove(&format!("{FRONT}\n"), &[FRONT]).unwrap();
        assert_eq!((left_behind.prefix, left_behind.text.as_str()), (Removed, ""));
    }

    #[test]
    fn removing_from_the_middle_leaves_one_blank_line() {
        let removed = remove(&format!("a\n\n{PROTO}\n{RUNTIME}\nb\n"), &[]).unwrap();
        assert_eq!(removed.text, "a\n\nb\n");
        assert_eq!(remove(&format!("a\n{PROTO}b\n"), &[]).unwrap().text, "a\nb\n");
        assert_eq!(remove(&format!("{PROTO}\nb\n"), &[]).unwrap().text, "b\n");
        let nothing = remove("\n \n", &[""]).unwrap();
        assert_eq!((changes(&nothing), nothing.text.as_str()), ([Skipped; 3], "\n \n"));
    }

    #[test]
    fn a_broken_block_stops_both() {
        let broken = "mine\n<!-- HUMAN_AGENT_RUNTIME_BEGIN -->\nmine too\n";
        let error = Broken::NoEnd {
            line: 2,
            marker: "<!-- HUMAN_AGENT_RUNTIME_BEGIN -->".to_owned(),
        };
        assert_eq!(apply(broken, &wanted("", None)), Err(error));
        assert!(remove(broken, &[]).is_err());
    }
}
