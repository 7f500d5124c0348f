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
