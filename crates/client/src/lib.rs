//! Finding a hub and talking to it: what our own programs share.

pub mod address;
pub mod data_dir;
pub mod duration;
#[cfg(feature = "hub")]
pub mod hub;
#[cfg(feature = "hub")]
pub mod item;
#[cfg(feature = "hub")]
pub mod last_table;
#[cfg(feature = "hub")]
pub mod screen;
#[cfg(feature = "hub")]
pub mod stop_signals;
