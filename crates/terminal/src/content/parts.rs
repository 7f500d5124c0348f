//! Context parts: text, diffs, data and files.

use countersign_protocol::api::inbox::ItemPart;

use super::{Piece, Tone, own_piece, pretty, quoted, titled};

pub fn part(number: usize, part: &ItemPart) -> Vec<Piece> {
    let (kind, pieces) = match part {
        ItemPart::Text { text } if is_diff(text) => ("a diff", diff(text)),
        ItemPart::Text { text } => ("text", quoted(text)),
        ItemPart::Data { data } => ("data", quoted(&pretty(data))),
        ItemPart::File { file } => {
            let about = [&file.name, &file.mime_type].into_iter().flatten();
            let parts: Vec<&str> = std::iter::once(&file.uri).chain(about).map(String::as_str).collect();
            ("a file, behind an unchecked link", quoted(&parts.join(" ")))
        }
        ItemPart::Unknown => ("", vec![own_piece(Tone::Quiet, "of a kind this version does not know")]),
    };
    titled(format!("Context {number}: {kind}").trim_end_matches([':', ' ']), pieces)
}

/// Only unmistakable diffs: a list with dashes stays a list.
fn is_diff(text: &str) -> bool {
    let begins = |mark: &str| text.lines().any(|line| line.starts_with(mark));
    (begins("@@ ") || begins("diff --git ")) && (begins("+") || begins("-"))
}

fn diff(text: &str) -> Vec<Piece> {
    quoted(text)
        .into_iter()
        .map(|piece| Piece {
            tone: diff_tone(&piece.text),
            ..piece
        })
        .collect()
}

fn diff_tone(line: &str) -> Tone {
    match line.as_bytes().first() {
        _ if line.starts_with("+++ ") || line.starts_with("--- ") || line.starts_with("diff ") => Tone::Quiet,
        Some(b'+') => Tone::Added,
        Some(b'-') => Tone::Removed,
        Some(b'@') => Tone::Hunk,
        Some(_) | None => Tone::Plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tones(text: &str) -> Vec<Tone> {
        part(1, &ItemPart::Text { text: text.to_owned() })
            .iter()
            .skip(2)
            .map(|piece| piece.tone)
            .collect()
    }

    #[test]
    fn a_diff_is_told_from_a_list() {
        let diff = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n same";
        let expected = [
            Tone::Quiet,
            Tone::Quiet,
            Tone::Hunk,
            Tone::Removed,
            Tone::Added,
            Tone::Plain,
        ];
        assert_eq!(tones(diff), expected);
        assert_eq!(tones("- one\n- two\n+ three"), [Tone::Plain; 3]);
    }
}
