use jsonc_parser::ast;
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use saphyr_parser::{Event, Parser, Span, StrInput};

use super::StrategyFormat;
use crate::runs::fault::{PathPart, Position};

/// Finds values in the text of a file. The file is parsed again for this, because only faulty files need positions.
pub(super) enum Locator<'t> {
    Json {
        text: &'t str,
        root: Option<ast::Value<'t>>,
    },
    Yaml(Option<YamlNode>),
}

pub(super) struct YamlNode {
    position: Position,
    children: Vec<(PathPart, YamlNode)>,
}

impl<'t> Locator<'t> {
    /// `text` is one that the format can parse.
    pub fn new(text: &'t str, format: StrategyFormat) -> Self {
        match format {
            StrategyFormat::Json | StrategyFormat::Jsonc => {
                let parsed = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default());
                let root = parsed.ok().and_then(|parsed| parsed.value);
                Self::Json { text, root }
            }
            StrategyFormat::Yaml => Self::Yaml(yaml_root(text)),
        }
    }

    /// The position of a key or an item. Of one that is missing it is the position of the value that lacks it.
    pub fn position(&self, parts: &[PathPart]) -> Option<Position> {
        match self {
            Self::Json { text, root } => Some(position_at(text, json_offset(root.as_ref()?, parts))),
            Self::Yaml(root) => Some(yaml_position(root.as_ref()?, parts)),
        }
    }
}

fn json_offset(root: &ast::Value<'_>, parts: &[PathPart]) -> usize {
    let mut value = root;
    let mut offset = root.start();
    for part in parts {
        let found = match (value, part) {
            (ast::Value::Object(object), PathPart::Key(key)) => {
                object.get(key).map(|entry| (entry.start(), &entry.value))
            }
            (ast::Value::Array(array), PathPart::Item(index)) => {
                array.elements.get(*index).map(|item| (item.start(), item))
            }
            _ => None,
        };
        let Some(found) = found else { break };
        (offset, value) = found;
    }
    offset
}

fn position_at(text: &str, offset: usize) -> Position {
    let before = text.get(..offset).unwrap_or_default();
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    Position {
        line: before.matches('\n').count() + 1,
        column: before[line_start..].chars().count() + 1,
    }
}

fn yaml_position(root: &YamlNode, parts: &[PathPart]) -> Position {
    let mut node = root;
    for part in parts {
        let Some((_, child)) = node.children.iter().find(|(name, _)| name == part) else {
            break;
        };
        node = child;
    }
    node.position
}

fn yaml_root(text: &str) -> Option<YamlNode> {
    let mut events = Parser::new_from_str(text);
    loop {
        match events.next_event()?.ok()? {
            (Event::Nothing | Event::StreamStart | Event::DocumentStart(_), _) => {}
            (event, span) => return yaml_node(&mut events, &event, span),
        }
    }
}

/// As deep as the parser of the format allows.
fn yaml_node<'a>(events: &mut Parser<'a, StrInput<'a>>, event: &Event<'a>, span: Span) -> Option<YamlNode> {
    let mut children = Vec::new();
    match event {
        Event::MappingStart(..) => {
            while let (Event::Scalar(key, ..), key_span) = events.next_event()?.ok()? {
                let (event, span) = events.next_event()?.ok()?;
                let child = YamlNode {
                    position: yaml_start(key_span),
                    ..yaml_node(events, &event, span)?
                };
                children.push((PathPart::Key(key.into_owned()), child));
            }
        }
        Event::SequenceStart(..) => loop {
            match events.next_event()?.ok()? {
                (Event::SequenceEnd, _) => break,
                (event, span) => children.push((PathPart::Item(children.len()), yaml_node(events, &event, span)?)),
            }
        },
        Event::Scalar(..) => {}
        _ => return None,
    }
    Some(YamlNode {
        position: yaml_start(span),
        children,
    })
}

pub(super) fn yaml_start(span: Span) -> Position {
    Position {
        line: span.start.line(),
        column: span.start.col() + 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(text: &str, format: StrategyFormat, path: &[PathPart]) -> (usize, usize) {
        let found = Locator::new(text, format).position(path).unwrap();
        (found.line, found.column)
    }

    #[test]
    fn a_value_is_found_at_its_key_or_its_own_start() {
        let key = |key: &str| PathPart::Key(key.to_owned());
        let json = "{\n  \"é\": 1, \"a\": {\"b\": [1,\n {\"c\": 2}]}}";
        let jsonc = "// a\n{\"a\": /* b */ {\"b\": [1, {\"c\": 2,},]}}";
        let yaml = "a:\n  b:\n    - 1\n    - c: 2\n";
        let deep = [key("a"), key("b"), PathPart::Item(1), key("c")];
        assert_eq!(position(json, StrategyFormat::Json, &deep), (3, 3));
        assert_eq!(position(json, StrategyFormat::Json, &deep[..1]), (2, 11));
        assert_eq!(position(jsonc, StrategyFormat::Jsonc, &deep), (2, 26));
        assert_eq!(position(yaml, StrategyFormat::Yaml, &deep), (4, 7));
        assert_eq!(position(yaml, StrategyFormat::Yaml, &deep[..2]), (2, 3));
        for (text, format) in [(json, StrategyFormat::Json), (yaml, StrategyFormat::Yaml)] {
            let missing = [key("a"), key("b"), key("missing")];
            assert_eq!(position(text, format, &missing), position(text, format, &missing[..2]));
            assert_eq!(position(text, format, &[]), (1, 1));
        }
    }
}
