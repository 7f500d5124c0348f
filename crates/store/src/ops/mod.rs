//! The domain operations, one file per job, each written once for every engine.

pub mod admin;
pub mod apply;
pub mod audit;
pub mod ceremony;
pub mod credential;
pub mod deliver;
pub mod dialect;
pub mod fetched;
mod hold;
mod left_open;
pub mod list;
pub mod node;
pub mod passkey;
pub mod password;
mod places;
pub mod pull;
pub mod rate;
pub mod rows;
pub mod run;
pub mod search;
pub mod seen;
pub mod setting;
pub mod shelf;
pub mod submit;
pub mod sweep;
pub mod terminal;
