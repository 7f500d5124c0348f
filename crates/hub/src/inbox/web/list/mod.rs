//! The open list, and what readers narrow it down to.

mod narrow;
mod page;

pub use narrow::{ActiveFilter, FilterForm, FilterSuggestions};
pub use page::{PAGE_SIZE, router};
