use std::cell::RefCell;
use std::fmt;

/// Faults listed in one error.
pub const MAX_FAULTS: usize = 50;
const MAX_SHOWN_CHARS: usize = 64;

/// One fault of a message or a file. It names what the protocol knows, never a text that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// For example `flow.steps.0.agent`. A key that the file chose itself is `*`.
    pub path: String,
    pub why: String,
    /// `None` if the fault is not of a file.
    pub position: Option<Position>,
}

/// Both count from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    pub line: usize,
    pub column: usize,
}

impl Position {
    /// A sentence with its position in front.
    pub(super) fn before(self, why: &str) -> String {
        format!("line {} column {}: {why}", self.line, self.column)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.why)?;
        match self.position {
            Some(Position { line, column }) => write!(f, " (line {line} column {column})"),
            None => Ok(()),
        }
    }
}

/// All faults of one document, reported at once. After a fault parsing continues with a placeholder value, and the
/// result is discarded in the end.
#[derive(Default)]
pub(super) struct FaultList(RefCell<Vec<(Fault, Vec<PathPart>)>>);

impl FaultList {
    pub fn add(&self, place: FaultPath<'_>, why: impl Into<String>) {
        let mut faults = self.0.borrow_mut();
        if faults.len() < MAX_FAULTS {
            let fault = Fault {
                path: place.to_string(),
                why: why.into(),
                position: None,
            };
            faults.push((fault, place.parts()));
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.borrow().is_empty()
    }

    pub fn into_list(self) -> Vec<Fault> {
        self.into_located(|_| None)
    }

    /// The faults with their positions in the file.
    pub fn into_located(self, locate: impl Fn(&[PathPart]) -> Option<Position>) -> Vec<Fault> {
        let located = |(fault, parts): (Fault, Vec<PathPart>)| Fault {
            position: locate(&parts),
            ..fault
        };
        self.0.into_inner().into_iter().map(located).collect()
    }
}

/// One step from a value to a nested one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PathPart {
    Key(String),
    Item(usize),
}

/// The path of a value. A chain of borrows, so that it costs nothing until a fault is reported.
#[derive(Clone, Copy)]
pub(super) enum FaultPath<'a> {
    Root,
    /// A key of the protocol.
    Key(&'a FaultPath<'a>, &'static str),
    /// A key that the document chose: the name of an agent, or an unknown key. It is never shown, because the document
    /// may be a foreign file, and the key a secret.
    Entry(&'a FaultPath<'a>, &'a str),
    Item(&'a FaultPath<'a>, usize),
}

impl FaultPath<'_> {
    pub fn parts(&self) -> Vec<PathPart> {
        let (parent, part) = match self {
            Self::Root => return Vec::new(),
            Self::Key(parent, key) => (parent, PathPart::Key((*key).to_owned())),
            Self::Entry(parent, key) => (parent, PathPart::Key((*key).to_owned())),
            Self::Item(parent, index) => (parent, PathPart::Item(*index)),
        };
        let mut parts = parent.parts();
        parts.push(part);
        parts
    }
}

impl fmt::Display for FaultPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (parent, part) = match self {
            Self::Root => return f.write_str("(root)"),
            Self::Key(parent, key) => (parent, (*key).to_owned()),
            Self::Entry(parent, _) => (parent, "*".to_owned()),
            Self::Item(parent, index) => (parent, index.to_string()),
        };
        match parent {
            FaultPath::Root => f.write_str(&part),
            parent => write!(f, "{parent}.{part}"),
        }
    }
}

/// Untrusted text inside a sentence: quoted, escaped and shortened.
pub(super) fn shown(text: &str) -> String {
    let mut cut: String = text.chars().take(MAX_SHOWN_CHARS).collect();
    if cut.len() < text.len() {
        cut.push('…');
    }
    format!("{cut:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_names_every_level() {
        let flow = FaultPath::Key(&FaultPath::Root, "flow");
        let steps = FaultPath::Key(&flow, "steps");
        let step = FaultPath::Item(&steps, 0);
        assert_eq!(FaultPath::Key(&step, "agent").to_string(), "flow.steps.0.agent");
        assert_eq!(FaultPath::Root.to_string(), "(root)");
        assert_eq!(FaultPath::Item(&FaultPath::Root, 3).to_string(), "3");
    }

    #[test]
    fn a_key_of_the_document_is_not_shown() {
        let agents = FaultPath::Key(&FaultPath::Root, "agents");
        let agent = FaultPath::Entry(&agents, "aws_secret_access_key");
        let path = FaultPath::Key(&agent, "type");
        assert_eq!(path.to_string(), "agents.*.type");
        let names = ["agents", "aws_secret_access_key", "type"];
        assert_eq!(path.parts(), names.map(|name| PathPart::Key(name.to_owned())));
    }

    #[test]
    fn the_list_of_faults_is_bounded() {
        let faults = FaultList::default();
        for index in 0..1000 {
            faults.add(FaultPath::Item(&FaultPath::Root, index), "wrong");
        }
        assert_eq!(faults.into_list().len(), MAX_FAULTS);
    }
}
