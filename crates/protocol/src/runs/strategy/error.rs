use std::fmt;

use crate::runs::fault::Fault;

/// Why a file is no strategy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StrategyError {
    /// Not JSON or YAML at all; the whole sentence, with line and column.
    Syntax(String),
    /// Every fault of its content, at most [`super::MAX_FAULTS`].
    Invalid(Vec<Fault>),
    /// A flow names an agent that is not there; the whole sentence.
    Reference(String),
    /// A flow would never come to an end; the whole sentence.
    Endless(String),
}

impl fmt::Display for StrategyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(sentence) | Self::Reference(sentence) | Self::Endless(sentence) => f.write_str(sentence),
            Self::Invalid(faults) => {
                f.write_str("Strategy validation failed:")?;
                faults.iter().try_for_each(|fault| write!(f, "\n  - {fault}"))
            }
        }
    }
}

impl std::error::Error for StrategyError {}
