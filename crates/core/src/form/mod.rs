//! Forms: a flat schema as the fields a surface draws, and what was typed into them as the answer the schema wants.

mod faults;
mod field;
mod typed;

pub use faults::check_all;
pub use field::{Field, FieldKind, fields, plain};
pub use typed::value_of;
