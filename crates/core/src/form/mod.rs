//! Forms: converts a flat schema into fields for a surface, and typed input into the answer.

mod faults;
mod field;
mod typed;

pub use faults::check_all;
pub use field::{Field, FieldKind, fields, only_text_field, plain};
pub use typed::value_of;
