//! Full-text search. Messages are indexed after their commit, so that no agent waits for it.

mod find;
mod index;
mod tokens;

pub use find::{Search, SearchPage};
pub use index::{IndexBatch, Indexed};
pub use tokens::SearchTerm;

pub(super) use index::lock_index;
