use std::fmt;

use crate::runs::fault::Fault;

/// Why a file is not a valid strategy. It repeats nothing of the file, which may be a foreign one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StrategyError {
    /// Not valid JSON or YAML; the full sentence, with line and column.
    Syntax(String),
    /// All faults of the content, at most [`super::MAX_FAULTS`].
    Invalid(Vec<Fault>),
}

impl fmt::Display for StrategyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(sentence) => f.write_str(sentence),
            Self::Invalid(faults) => {
                f.write_str("Strategy validation failed:")?;
                faults.iter().try_for_each(|fault| write!(f, "\n  - {fault}"))
            }
        }
    }
}

impl std::error::Error for StrategyError {}
