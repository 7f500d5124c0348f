//! Text from agents as safe HTML: no markup of theirs, nothing fetched, no hidden characters, every link target
//! visible.

mod code;
mod diff;
mod image;
mod json;
mod link;
mod markdown;
mod safe_html;
mod title;

pub use diff::{diff, looks_like_diff};
pub use image::{image, image_key, is_image_address};
pub use json::{json, tree};
pub use link::link;
pub use markdown::{image_addresses, markdown, markdown_with_images};
pub use safe_html::SafeHtml;
pub use title::title;
