//! Full-text search. Messages are indexed after their commit, so that no agent waits for it.

mod find;
mod index;
mod senders;
mod statements;
mod tokens;

pub use find::{Search, SearchOrder, SearchPage, SearchTotal};
pub use index::{IndexBatch, Indexed};

pub use statements::Position;

pub(super) use index::lock_index;
pub(super) use statements::candidates;
