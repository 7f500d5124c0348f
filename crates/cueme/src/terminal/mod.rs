//! Standard input and output, and the texts printed there.

pub mod help;
pub mod out;
pub mod shell;
pub mod stdin;
pub mod words;
