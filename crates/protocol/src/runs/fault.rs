use std::cell::RefCell;
use std::fmt;

/// Faults listed in one error.
pub const MAX_FAULTS: usize = 50;
const MAX_SHOWN_CHARS: usize = 64;

/// One fault, with its path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// For example `flow.steps.0.agent`.
    pub path: String,
    pub why: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.why)
    }
}

/// All faults of one document, reported at once. After a fault parsing continues with a placeholder value, and the
/// result is discarded in the end.
#[derive(Default)]
pub(super) struct FaultList(RefCell<Vec<Fault>>);

impl FaultList {
    pub fn add(&self, place: FaultPath<'_>, why: impl Into<String>) {
        let mut faults = self.0.borrow_mut();
        if faults.len() < MAX_FAULTS {
            faults.push(Fault {
                path: place.to_string(),
                why: why.into(),
            });
        }
    }

    pub fn into_list(self) -> Vec<Fault> {
        self.0.into_inner()
    }
}

/// The path of a value. A chain of borrows, so that it costs nothing until a fault is reported.
#[derive(Clone, Copy)]
pub(super) enum FaultPath<'a> {
    Root,
    Key(&'a FaultPath<'a>, &'a str),
    Item(&'a FaultPath<'a>, usize),
}

impl fmt::Display for FaultPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => f.write_str("(root)"),
            Self::Key(FaultPath::Root, key) => f.write_str(&shown_key(key)),
            Self::Key(parent, key) => write!(f, "{parent}.{}", shown_key(key)),
            Self::Item(FaultPath::Root, index) => write!(f, "{index}"),
            Self::Item(parent, index) => write!(f, "{parent}.{index}"),
        }
    }
}

/// Quotes a key that would make the path ambiguous.
fn shown_key(key: &str) -> String {
    let is_plain = |character: char| character.is_alphanumeric() || matches!(character, '_' | '-' | '$');
    let is_short = key.chars().count() <= MAX_SHOWN_CHARS;
    if is_short && !key.is_empty() && key.chars().all(is_plain) {
        key.to_owned()
    } else {
        shown(key)
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
    fn a_hostile_key_cannot_forge_another_line() {
        let shown = |key: &str| FaultPath::Key(&FaultPath::Key(&FaultPath::Root, "agents"), key).to_string();
        assert_eq!(shown("größe"), "agents.größe");
        assert_eq!(shown("a.b"), r#"agents."a.b""#);
        assert_eq!(shown(""), r#"agents."""#);
        assert_eq!(shown("a\n  - name: fine"), r#"agents."a\n  - name: fine""#);
        assert_eq!(shown("\u{1b}[31m\u{202e}"), r#"agents."\u{1b}[31m\u{202e}""#);
        assert_eq!(shown(&"x".repeat(1000)), format!("agents.\"{}…\"", "x".repeat(64)));
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
