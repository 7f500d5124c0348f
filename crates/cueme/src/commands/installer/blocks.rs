//! The managed parts of a file: whole lines between a begin and an end marker. All other text belongs to the user.

use std::ops::Range;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Block {
    /// The protocol, the same for every agent.
    Proto,
    /// Extra instructions for this agent only.
    Runtime,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Edge {
    Begin,
    End,
}

#[derive(Debug, PartialEq, Eq)]
pub struct FoundBlock {
    pub block: Block,
    /// From the start of the begin line to the end of the end line, without its line ending.
    pub span: Range<usize>,
}

/// An unpaired marker. Its file is refused, because the text after the marker may be the user's own.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum MarkerError {
    #[error("line {line}: {marker} has no matching end; complete or remove it by hand, nothing was written")]
    NoEnd { line: usize, marker: String },
    #[error("line {line}: {marker} has no matching begin; complete or remove it by hand, nothing was written")]
    NoBegin { line: usize, marker: String },
}

impl Block {
    fn marker(self, edge: Edge) -> &'static str {
        match (self, edge) {
            (Self::Proto, Edge::Begin) => "<!-- HUMAN_AGENT_PROTO_BEGIN -->",
            (Self::Proto, Edge::End) => "<!-- HUMAN_AGENT_PROTO_END -->",
            (Self::Runtime, Edge::Begin) => "<!-- HUMAN_AGENT_RUNTIME_BEGIN -->",
            (Self::Runtime, Edge::End) => "<!-- HUMAN_AGENT_RUNTIME_END -->",
        }
    }

    /// The block as it is written, with `\n` line endings and none at its end.
    pub fn render(self, body: &str) -> String {
        format!(
            "{}\n{}\n{}",
            self.marker(Edge::Begin),
            body.trim_matches('\n'),
            self.marker(Edge::End)
        )
    }
}

/// All blocks, in file order.
pub fn scan(text: &str) -> Result<Vec<FoundBlock>, MarkerError> {
    let mut blocks = Vec::new();
    let mut open: Option<(Block, usize, Marker)> = None;
    for marker in markers(text) {
        match (open.take(), marker.edge) {
            (None, Edge::Begin) => open = Some((marker.block, marker.span.start, marker)),
            (Some((block, start, _)), Edge::End) if block == marker.block => {
                blocks.push(FoundBlock {
                    block,
                    span: start..marker.span.end,
                });
            }
            (Some((_, _, begin)), Edge::Begin | Edge::End) => return Err(begin.missing_end()),
            (None, Edge::End) => {
                return Err(MarkerError::NoBegin {
                    line: marker.line,
                    marker: marker.text,
                });
            }
        }
    }
    match open {
        Some((_, _, begin)) => Err(begin.missing_end()),
        None => Ok(blocks),
    }
}

/// The line of the first marker in a text that is meant for the inside of a block, where markers are not allowed.
pub fn first_marker(text: &str) -> Option<usize> {
    markers(text).next().map(|marker| marker.line)
}

struct Marker {
    block: Block,
    edge: Edge,
    line: usize,
    span: Range<usize>,
    text: String,
}

impl Marker {
    fn missing_end(self) -> MarkerError {
        MarkerError::NoEnd {
            line: self.line,
            marker: self.text,
        }
    }
}

fn markers(text: &str) -> impl Iterator<Item = Marker> {
    let mut offset = 0;
    text.split_inclusive('\n')
        .enumerate()
        .filter_map(move |(index, whole)| {
            let start = offset;
            offset += whole.len();
            let line = whole.trim_end_matches(['\r', '\n']);
            let (block, edge) = parse_marker(line)?;
            Some(Marker {
                block,
                edge,
                line: index + 1,
                span: start..start + line.len(),
                text: line.trim().to_owned(),
            })
        })
}

/// Parses a marker, which stands alone on its line. `HUAMN` is a misspelling of early versions, still found in users'
/// files.
fn parse_marker(line: &str) -> Option<(Block, Edge)> {
    let name = line.trim().strip_prefix("<!--")?.strip_suffix("-->")?.trim();
    match name
        .strip_prefix("HUMAN_AGENT_")
        .or_else(|| name.strip_prefix("HUAMN_AGENT_"))?
    {
        "PROTO_BEGIN" => Some((Block::Proto, Edge::Begin)),
        "PROTO_END" => Some((Block::Proto, Edge::End)),
        "RUNTIME_BEGIN" => Some((Block::Runtime, Edge::Begin)),
        "RUNTIME_END" => Some((Block::Runtime, Edge::End)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROTO: &str = "<!-- HUMAN_AGENT_PROTO_BEGIN -->\nold\n<!-- HUMAN_AGENT_PROTO_END -->";

    fn found(text: &str) -> Vec<(Block, &str)> {
        let blocks = scan(text).unwrap();
        blocks
            .into_iter()
            .map(|found| (found.block, &text[found.span]))
            .collect()
    }

    #[test]
    fn blocks_are_found_anywhere_in_a_file() {
        assert_eq!(found(PROTO), [(Block::Proto, PROTO)]);
        assert_eq!(found(&format!("mine\n\n{PROTO}\nmine\n")), [(Block::Proto, PROTO)]);
        let runtime = Block::Runtime.render("x\n");
        let both = format!("{PROTO}\n\n{runtime}\n");
        assert_eq!(
            found(&both),
            [(Block::Proto, PROTO), (Block::Runtime, runtime.as_str())]
        );
        assert_eq!(found("no block\n<!-- a comment -->\n"), []);
    }

    #[test]
    fn markers_are_found_despite_spacing_line_endings_and_the_old_misspelling() {
        for text in [
            PROTO.replace('\n', "\r\n"),
            PROTO.replace("<!-- ", "<!--").replace(" -->", "\t -->"),
            PROTO.replace("HUMAN", "HUAMN"),
            PROTO.replacen("HUMAN", "HUAMN", 1),
            PROTO.replace("<!--", "  <!--"),
        ] {
            assert_eq!(found(&text), [(Block::Proto, text.as_str())]);
        }
    }

    #[test]
    fn a_marker_inside_a_line_is_plain_text() {
        assert_eq!(
            found("Our block starts with `<!-- HUMAN_AGENT_PROTO_BEGIN -->` and\n"),
            []
        );
        assert_eq!(first_marker("a\nabout <!-- HUMAN_AGENT_PROTO_END -->\n"), None);
        assert_eq!(first_marker("a\n<!-- HUMAN_AGENT_PROTO_END -->\n"), Some(2));
    }

    #[test]
    fn an_unpaired_marker_is_refused_with_its_line() {
        let begin = "<!-- HUMAN_AGENT_PROTO_BEGIN -->";
        let end = "<!-- HUMAN_AGENT_PROTO_END -->";
        let other = "<!-- HUMAN_AGENT_RUNTIME_BEGIN -->";
        let no_end = |line| {
            Err(MarkerError::NoEnd {
                line,
                marker: begin.to_owned(),
            })
        };
        assert_eq!(scan(&format!("a\n{begin}\nold\n")), no_end(2));
        assert_eq!(scan(&format!("{begin}\nold\n{PROTO}\n")), no_end(1));
        assert_eq!(scan(&format!("{PROTO}\n{begin}")), no_end(4));
        assert_eq!(
            scan(&format!("{begin}\n{other}\n{end}\n")),
            no_end(1),
            "blocks do not cross"
        );
        let no_begin = Err(MarkerError::NoBegin {
            line: 4,
            marker: end.to_owned(),
        });
        assert_eq!(scan(&format!("{PROTO}\n{end}\n")), no_begin);
    }
}
