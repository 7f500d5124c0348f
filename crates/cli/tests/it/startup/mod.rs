//! What happens between typing the command and the first question.

mod files;
mod greeting;
mod refusals;
pub mod tls;
