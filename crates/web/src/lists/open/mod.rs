//! The list of open items, and its filters.

mod narrow;
mod page;

pub use narrow::{ActiveFilter, FilterForm, FilterSuggestions};
pub use page::{PAGE_SIZE, router};
