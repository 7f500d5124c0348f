//! The list of open items, and its filters.

mod filter_form;
mod page;

pub use filter_form::{ActiveFilter, FilterForm, FilterSuggestions};
pub use page::{PAGE_SIZE, router};
