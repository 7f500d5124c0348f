//! Standard input and output, and the texts that cueme prints.

pub mod help;
pub mod out;
pub mod phrases;
pub mod shell;
pub mod stdin;
