//! Markdown of an agent as lines: headings, lists, code and tables, with links spelled out.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::{Piece, Tone, escape};

/// Deeper lists are shown at this depth.
const MAX_SHOWN_DEPTH: usize = 6;

/// Every line is escaped after parsing, because Markdown can name any character by its number.
pub fn markdown(text: &str) -> Vec<Piece> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut writer = MarkdownWriter::default();
    for event in Parser::new_ext(text, options) {
        writer.event(event);
    }
    writer.end_line();
    writer.pieces
}

#[derive(Default)]
struct MarkdownWriter {
    pieces: Vec<Piece>,
    line: String,
    /// The next number of each open list; `None` for bullets.
    lists: Vec<Option<u64>>,
    /// The marker of a list item, until its first line is written.
    marker: Option<String>,
    quotes: usize,
    in_heading: bool,
    in_code: bool,
    /// The addresses of the open links.
    links: Vec<String>,
}

impl MarkdownWriter {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) if self.in_code => self.code_lines(&text),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => self.line.push_str(&text),
            Event::Code(text) => self.line.push_str(&format!("`{text}`")),
            Event::SoftBreak | Event::HardBreak => self.end_line(),
            Event::Rule => {
                self.gap();
                self.line.push_str("────");
                self.end_line();
            }
            Event::TaskListMarker(done) => self.line.push_str(if done { "[x] " } else { "[ ] " }),
            // Not switched on.
            Event::InlineMath(_) | Event::DisplayMath(_) | Event::FootnoteReference(_) => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph | Tag::Table(_) | Tag::HtmlBlock => self.gap(),
            Tag::Heading { .. } => {
                self.gap();
                self.in_heading = true;
            }
            Tag::CodeBlock(_) => {
                self.gap();
                self.in_code = true;
            }
            Tag::BlockQuote(_) => {
                self.gap();
                self.quotes += 1;
            }
            Tag::List(first) => {
                self.end_line();
                self.gap();
                self.lists.push(first);
            }
            Tag::Item => {
                self.end_line();
                self.marker = Some(self.next_marker());
            }
            Tag::Link { dest_url, .. } => self.links.push(dest_url.into_string()),
            Tag::Image { dest_url, .. } => {
                self.line.push_str("image: ");
                self.links.push(dest_url.into_string());
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(_) => {
                self.end_line();
                self.in_heading = false;
            }
            TagEnd::CodeBlock => {
                self.end_line();
                self.in_code = false;
            }
            TagEnd::BlockQuote(_) => {
                self.end_line();
                self.quotes -= 1;
            }
            TagEnd::List(_) => {
                self.end_line();
                self.lists.pop();
            }
            TagEnd::Item | TagEnd::Paragraph | TagEnd::TableHead | TagEnd::TableRow | TagEnd::HtmlBlock => {
                self.end_line()
            }
            TagEnd::TableCell => self.line.push_str("  "),
            TagEnd::Link | TagEnd::Image => self.link(),
            _ => {}
        }
    }

    /// The address behind a text is always shown: a text can claim any address.
    fn link(&mut self) {
        let address = self.links.pop().unwrap_or_default();
        if !self.line.ends_with(&address) {
            self.line.push_str(&format!(" ({address})"));
        }
    }

    fn next_marker(&mut self) -> String {
        match self.lists.last_mut() {
            Some(Some(number)) => {
                let marker = format!("{number}. ");
                *number += 1;
                marker
            }
            Some(None) | None => "• ".to_owned(),
        }
    }

    fn code_lines(&mut self, text: &str) {
        for line in text.lines() {
            self.line.push_str(line);
            self.write_line();
        }
    }

    /// An empty line before a block, but not inside a list.
    fn gap(&mut self) {
        self.end_line();
        if self.lists.is_empty() && self.pieces.last().is_some_and(|piece| !piece.text.is_empty()) {
            self.push(String::new());
        }
    }

    fn end_line(&mut self) {
        if !self.line.is_empty() {
            self.write_line();
        }
    }

    fn write_line(&mut self) {
        let depth = self.lists.len().saturating_sub(1).min(MAX_SHOWN_DEPTH);
        let list = match (self.marker.take(), self.lists.is_empty()) {
            (Some(marker), _) => format!("{}{marker}", "  ".repeat(depth)),
            (None, false) => "  ".repeat(depth + 1),
            (None, true) => String::new(),
        };
        let quotes = "> ".repeat(self.quotes.min(MAX_SHOWN_DEPTH));
        let line = std::mem::take(&mut self.line);
        self.push(escape(format!("{quotes}{list}{line}").trim_end()));
    }

    fn push(&mut self, text: String) {
        let tone = match (self.in_heading, self.in_code) {
            (true, _) => Tone::Heading,
            (_, true) => Tone::Code,
            (false, false) => Tone::Plain,
        };
        self.pieces.push(Piece {
            tone,
            text,
            quoted: true,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        markdown(text).into_iter().map(|piece| piece.text).collect()
    }

    #[test]
    fn blocks_become_lines() {
        let text =
            "# Plan\nShip **today**\nat `noon`.\n\n- one\n- two\n  1. first\n  2. second\n\n> quoted\n\n- [x] done\n";
        let expected = [
            "Plan",
            "",
            "Ship today",
            "at `noon`.",
            "",
            "• one",
            "• two",
            "  1. first",
            "  2. second",
            "",
            "> quoted",
            "",
            "• [x] done",
        ];
        assert_eq!(lines(text), expected);
        assert_eq!(markdown(text)[0].tone, Tone::Heading);
    }

    #[test]
    fn code_keeps_its_lines_and_tables_their_cells() {
        let code = markdown("```sh\na  b\n\n  c\n```");
        assert!(code.iter().all(|piece| piece.tone == Tone::Code));
        assert_eq!(lines("```sh\na  b\n\n  c\n```"), ["a  b", "", "  c"]);
        assert_eq!(lines("|a|b|\n|-|-|\n|1|2|"), ["a  b", "1  2"]);
    }

    #[test]
    fn a_link_shows_where_it_leads() {
        assert_eq!(
            lines("[bank.example](https://evil.example)"),
            ["bank.example (https://evil.example)"]
        );
        assert_eq!(lines("<https://a.example>"), ["https://a.example"]);
        assert_eq!(
            lines("![logo](https://a.example/l.png)"),
            ["image: logo (https://a.example/l.png)"]
        );
    }

    #[test]
    fn a_character_named_by_its_number_stays_harmless() {
        for text in [
            "a\u{1b}[2J",
            "a&#27;[2J",
            "`a\u{1b}[2J`",
            "# a&#x1b;[2J",
            "    a\u{1b}[2J",
        ] {
            assert_eq!(lines(text).concat().replace('`', ""), "a\\u{1b}[2J", "{text:?}");
        }
        assert_eq!(lines("<b>raw</b>"), ["<b>raw</b>"]);
        assert!(
            lines(&"> ".repeat(500)).len() < 10 && lines(&"- ".repeat(500)).len() < 600,
            "bounded"
        );
    }
}
