//! Finding messages by their words. They enter the index after they were stored, so that no agent waits for it.

mod find;
mod index;
mod words;

pub use find::{Search, SearchPage};
pub use index::{IndexSome, Indexed};
pub use words::Asked;

pub(super) use index::hold_mark;
