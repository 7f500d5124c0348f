//! The domain transactions, one file a job, each written once for every engine.

pub mod admin;
pub mod apply;
pub mod audit;
pub mod credential;
pub mod deliver;
mod hold;
pub mod list;
pub mod pull;
pub mod rows;
pub mod submit;
pub mod sweep;

use crate::error::StoreError;

/// For an INSERT that no conflict clause can keep out.
fn inserted(seq: Option<i64>) -> Result<i64, StoreError> {
    seq.ok_or_else(|| StoreError::Unavailable("a row was not taken".to_owned()))
}
