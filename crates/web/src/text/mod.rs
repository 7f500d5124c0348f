//! Text from agents as safe HTML: no markup of theirs, nothing fetched, no hidden characters, every link target
//! visible.

mod diff;
mod link;
mod markdown;
mod safe_html;
mod tree;

pub use diff::{diff, looks_like_diff};
pub use link::link;
pub use markdown::markdown;
pub use safe_html::SafeHtml;
pub use tree::{json, tree};
