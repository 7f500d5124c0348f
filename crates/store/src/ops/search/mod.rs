//! Finding messages by their words. They enter the index after they were stored, so that no agent waits for it.

mod find;
mod index;
mod words;

pub use find::{Search, SearchPage};
pub use index::{IndexBatch, Indexed};
pub use words::SearchTerm;

pub(super) use index::lock_index;
