//! Adds the managed blocks to the text of a file, or removes them. The user's own text is not changed.

use super::blocks::{Block, MarkerError, scan};

/// The parts to install, all with `\n` line endings.
#[derive(Debug)]
pub struct DesiredParts<'a> {
    /// The text that the file has to begin with; may be empty.
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
    pub fn as_str(self) -> &'static str {
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
pub struct EditedFile {
    pub text: String,
    pub prefix: Change,
    pub proto: Change,
    pub runtime: Change,
}

/// Stays the first character of a file that has it.
const BYTE_ORDER_MARK: char = '\u{feff}';

pub fn apply(text: &str, desired: &DesiredParts) -> Result<EditedFile, MarkerError> {
    let (bom, body) = split_bom(text);
    let (mut body, ending) = (body.to_owned(), dominant_ending(body));
    let is_new = !scan(&body)?.iter().any(|found| found.block == Block::Proto);
    let prefix = if is_new {
        put_prefix(&mut body, desired.prefix, ending)
    } else {
        Change::Skipped
    };
    let proto = sync_block(&mut body, Block::Proto, Some(desired.proto), ending)?;
    let runtime = sync_block(&mut body, Block::Runtime, desired.runtime, ending)?;
    Ok(EditedFile {
        text: format!("{bom}{body}"),
        prefix,
        proto,
        runtime,
    })
}

/// `prefixes` are those that an earlier `apply` may have added. A prefix is removed when no other text remains; an
/// empty result means that the file is no longer needed.
pub fn remove(text: &str, prefixes: &[&str]) -> Result<EditedFile, MarkerError> {
    let (bom, body) = split_bom(text);
    let (mut body, ending) = (body.to_owned(), dominant_ending(body));
    let proto = sync_block(&mut body, Block::Proto, None, ending)?;
    let runtime = sync_block(&mut body, Block::Runtime, None, ending)?;
    let left = body.replace("\r\n", "\n");
    let is_prefix = prefixes
        .iter()
        .any(|prefix| !prefix.is_empty() && left.trim() == prefix.trim());
    let is_ours = is_prefix || [proto, runtime].contains(&Change::Removed) && left.trim().is_empty();
    let text = if is_ours { String::new() } else { format!("{bom}{body}") };
    Ok(EditedFile {
        text,
        prefix: if is_prefix { Change::Removed } else { Change::Skipped },
        proto,
        runtime,
    })
}

fn split_bom(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with(BYTE_ORDER_MARK) {
        BYTE_ORDER_MARK.len_utf8()
    } else {
        0
    })
}

/// The line ending that most lines have.
fn dominant_ending(text: &str) -> &'static str {
    let all = text.matches('\n').count();
    let windows = text.matches("\r\n").count();
    if windows * 2 > all { "\r\n" } else { "\n" }
}

fn with_ending(text: &str, ending: &str) -> String {
    text.replace("\r\n", "\n").replace('\n', ending)
}

/// Front matter goes to the top of the file, because agents read it only there; any other prefix goes before the block.
fn put_prefix(body: &mut String, prefix: &str, ending: &str) -> Change {
    let prefix = with_ending(prefix.trim_end_matches('\n'), ending);
    let is_front_matter = prefix.starts_with("---");
    // A file has only one front matter, and the user's own is kept.
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

fn sync_block(body: &mut String, block: Block, desired: Option<&str>, ending: &str) -> Result<Change, MarkerError> {
    let mut spans: Vec<_> = scan(body)?
        .into_iter()
        .filter(|found| found.block == block)
        .map(|found| found.span)
        .collect();
    let desired = desired.map(|desired| with_ending(&block.render(desired), ending));
    let first = if desired.is_some() && !spans.is_empty() {
        Some(spans.remove(0))
    } else {
        None
    };
    // In reverse order, so that the remaining spans stay valid.
    for span in spans.iter().rev() {
        remove_lines(body, span.start, span.end);
    }
    Ok(match (first, desired) {
        (None, None) if spans.is_empty() => Change::Skipped,
        (None | Some(_), None) => Change::Removed,
        (None, Some(desired)) => {
            insert(body, block, &desired, ending)?;
            Change::Added
        }
        (Some(span), Some(desired)) if spans.is_empty() && body[span.clone()] == desired => Change::Unchanged,
        (Some(span), Some(desired)) => {
            body.replace_range(span, &desired);
            Change::Updated
        }
    })
}

/// The runtime block goes after the protocol block; otherwise a block goes to the end.
fn insert(body: &mut String, block: Block, rendered: &str, ending: &str) -> Result<(), MarkerError> {
    let before = scan(body)?
        .into_iter()
        .find(|found| block == Block::Runtime && found.block == Block::Proto);
    match before {
        Some(proto) => body.insert_str(proto.span.end, &format!("{ending}{ending}{rendered}")),
        None => append(body, rendered, ending),
    }
    Ok(())
}

/// Appends a paragraph, with a blank line before it.
fn append(body: &mut String, paragraph: &str, ending: &str) {
    if body.trim().is_empty() {
        body.clear();
    } else if !body.ends_with('\n') {
        body.push_str(ending);
    }
    if !body.is_empty() && !ends_with_blank_line(body) {
        body.push_str(ending);
    }
    body.push_str(paragraph);
    body.push_str(ending);
}

/// Removes the lines, and one of the blank lines around them.
fn remove_lines(body: &mut String, start: usize, end: usize) {
    let after = &body[end..];
    let mut end = end + leading_newline_len(after);
    let after_is_blank = end == body.len() || leading_newline_len(&body[end..]) > 0;
    let mut start = start;
    if start == 0 {
        end += leading_newline_len(&body[end..]);
    } else if after_is_blank && ends_with_blank_line(&body[..start]) {
        start -= if body[..start].ends_with("\r\n") { 2 } else { 1 };
    }
    body.replace_range(start..end, "");
}

fn leading_newline_len(text: &str) -> usize {
    if text.starts_with("\r\n") {
        2
    } else {
        usize::from(text.starts_with('\n'))
    }
}

fn ends_with_blank_line(text: &str) -> bool {
    text.ends_with("\n\n") || text.ends_with("\n\r\n")
}

#[cfg(test)]
mod tests {
    use super::Change::*;
    use super::*;

    const FRONT: &str = "---\napplyTo: \"**\"\n---";
    const PROTO: &str = "<!-- HUMAN_AGENT_PROTO_BEGIN -->\nask first\n<!-- HUMAN_AGENT_PROTO_END -->\n";
    const RUNTIME: &str = "<!-- HUMAN_AGENT_RUNTIME_BEGIN -->\nwait long\n<!-- HUMAN_AGENT_RUNTIME_END -->\n";

    fn desired(prefix: &'static str, runtime: Option<&'static str>) -> DesiredParts<'static> {
        DesiredParts {
            prefix,
            proto: "ask first\n",
            runtime,
        }
    }

    fn changes(edited: &EditedFile) -> [Change; 3] {
        [edited.prefix, edited.proto, edited.runtime]
    }

    #[track_caller]
    fn applied(text: &str, desired: &DesiredParts, expected: [Change; 3]) -> String {
        let edited = apply(text, desired).unwrap();
        assert_eq!(changes(&edited), expected);
        let again = apply(&edited.text, desired).unwrap();
        assert_eq!(again.text, edited.text, "a second time changes nothing");
        assert_eq!((again.prefix, again.proto), (Skipped, Unchanged));
        edited.text
    }

    #[test]
    fn a_new_file_has_the_prefix_and_the_blocks() {
        let whole = applied("", &desired(FRONT, Some("wait long")), [Added, Added, Added]);
        assert_eq!(whole, format!("{FRONT}\n\n{PROTO}\n{RUNTIME}"));
        assert_eq!(applied(" \n", &desired("", None), [Skipped, Added, Skipped]), PROTO);
    }

    #[test]
    fn existing_text_is_kept_before_the_blocks() {
        let plain = desired("", Some("wait long"));
        for mine in ["# Mine", "# Mine\n", "# Mine\n\n"] {
            let whole = applied(mine, &plain, [Skipped, Added, Added]);
            assert_eq!(whole, format!("# Mine\n\n{PROTO}\n{RUNTIME}"));
            assert_eq!(remove(&whole, &[]).unwrap().text, "# Mine\n");
        }
    }

    #[test]
    fn a_block_is_replaced_in_place() {
        let old = format!(
            "before\n{}after\n",
            PROTO.replace("ask first", "old\nwords").replace("HUMAN", "HUAMN")
        );
        let whole = applied(&old, &desired(FRONT, None), [Skipped, Updated, Skipped]);
        assert_eq!(whole, format!("before\n{PROTO}after\n"));
        let whole = applied(&whole, &desired("", Some("wait long")), [Skipped, Unchanged, Added]);
        assert_eq!(whole, format!("before\n{PROTO}\n{RUNTIME}after\n"));
        let longer = applied(&whole, &desired("", Some("wait longer")), [Skipped, Unchanged, Updated]);
        assert!(longer.contains("wait longer"));
        let whole = applied(&longer, &desired("", None), [Skipped, Unchanged, Removed]);
        assert_eq!(whole, format!("before\n{PROTO}\nafter\n"));
    }

    #[test]
    fn an_end_marker_may_lack_a_line_ending() {
        applied(PROTO.trim_end(), &desired("", None), [Skipped, Unchanged, Skipped]);
        assert_eq!(remove(PROTO.trim_end(), &[]).unwrap().text, "");
    }

    #[test]
    fn a_duplicate_block_is_removed() {
        let whole = applied(
            &format!("a\n\n{PROTO}\nb\n\n{PROTO}"),
            &desired("", None),
            [Skipped, Updated, Skipped],
        );
        assert_eq!(whole, format!("a\n\n{PROTO}\nb\n"));
    }

    #[test]
    fn windows_line_endings_are_kept() {
        let plain = desired(FRONT, Some("wait\nlong"));
        let whole = applied("# Mine\r\ntext\r\n", &plain, [Added, Added, Added]);
        assert_eq!(whole.matches('\n').count(), whole.matches("\r\n").count(), "{whole:?}");
        assert!(whole.starts_with("---\r\n"));
        let updated = apply(&whole, &desired(FRONT, Some("wait longer"))).unwrap();
        assert_eq!(updated.runtime, Updated);
        assert_eq!(updated.text.matches('\n').count(), updated.text.matches("\r\n").count());
        let removed = remove(
            &applied("# Mine\r\n", &desired("", None), [Skipped, Added, Skipped]),
            &[],
        )
        .unwrap();
        assert_eq!(removed.text, "# Mine\r\n");
    }

    #[test]
    fn mixed_line_endings_are_kept() {
        let whole = applied("a\r\nb\nc\n", &desired("", None), [Skipped, Added, Skipped]);
        assert_eq!(whole, format!("a\r\nb\nc\n\n{PROTO}"));
    }

    #[test]
    fn front_matter_is_added_at_the_top_only_once() {
        let whole = applied("mine\n", &desired(FRONT, None), [Added, Added, Skipped]);
        assert_eq!(whole, format!("{FRONT}\n\nmine\n\n{PROTO}"));
        let own = "---\napplyTo: \"src/**\"\n---\nmine\n";
        let whole = applied(own, &desired(FRONT, None), [Skipped, Added, Skipped]);
        assert_eq!(whole, format!("{own}\n{PROTO}"));
        applied(&format!("{FRONT}\n"), &desired(FRONT, None), [Skipped, Added, Skipped]);
    }

    #[test]
    fn any_other_prefix_goes_before_the_block() {
        let whole = applied("mine\n", &desired("# Cueme", None), [Added, Added, Skipped]);
        assert_eq!(whole, format!("mine\n\n# Cueme\n\n{PROTO}"));
    }

    #[test]
    fn a_byte_order_mark_stays_first() {
        let whole = applied("\u{feff}mine\n", &desired(FRONT, None), [Added, Added, Skipped]);
        assert!(whole.starts_with("\u{feff}---\n"));
        assert!(remove(&whole, &[FRONT]).unwrap().text.starts_with("\u{feff}---\n"));
        let marked = format!("\u{feff}{PROTO}");
        applied(&marked, &desired("", None), [Skipped, Unchanged, Skipped]);
        assert_eq!(remove(&marked, &[]).unwrap().text, "");
    }

    #[test]
    fn removing_drops_the_prefix_when_no_other_text_remains() {
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
    fn an_unpaired_marker_fails_apply_and_remove() {
        let broken = "mine\n<!-- HUMAN_AGENT_RUNTIME_BEGIN -->\nmine too\n";
        let error = MarkerError::NoEnd {
            line: 2,
            marker: "<!-- HUMAN_AGENT_RUNTIME_BEGIN -->".to_owned(),
        };
        assert_eq!(apply(broken, &desired("", None)), Err(error));
        assert!(remove(broken, &[]).is_err());
    }
}
