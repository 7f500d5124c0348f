//! Finding a hub and talking to it: what our own programs share.

pub mod address;
pub mod data_dir;
pub mod duration;
