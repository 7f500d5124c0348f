//! The open list, and what readers narrow it down to.

mod narrow;
mod page;

pub use narrow::{Active, Narrow, Offered};
pub use page::{PAGE, router};
