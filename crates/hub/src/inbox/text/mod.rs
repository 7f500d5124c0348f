//! What agents wrote, as HTML that does nothing: no markup of theirs, nothing fetched, nothing hidden, no address unseen.

mod diff;
mod link;
mod markdown;
mod safe;
mod tree;

pub use diff::{diff, looks_like_diff};
pub use link::link;
pub use markdown::markdown;
pub use safe::SafeHtml;
pub use tree::{json, tree};
