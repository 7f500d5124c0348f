//! The list of open items, and its filters.

mod filter_form;
mod groups;
mod page;
pub mod views;

pub use filter_form::{ActiveFilter, FilterForm, FilterSuggestions, MenuEntry};
pub use page::PAGE_SIZE;

use std::sync::Arc;

use axum::Router;
use countersign_hub::Hub;

pub fn router() -> Router<Arc<Hub>> {
    page::router().merge(views::router())
}
