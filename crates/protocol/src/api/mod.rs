//! The JSON of the hub's own API, written by the hub and read by our programs. A client ignores fields that it does not
//! know, and a field that an older hub does not send has a default. Some lists are generic, because the hub fills them
//! with types of its store. A type with secrets has no `Debug`, so that none is logged by accident.

pub mod admin;
mod hub_file;
pub mod inbox;
pub mod runs;
pub mod terminals;
mod time;

pub use hub_file::HubFile;
pub use time::HubTime;
