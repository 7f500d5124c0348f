//! The receiving half of the library, as its users see it.

mod any_bytes;
mod journal;
mod layer;
mod processes;
mod scratch;
mod seal;
mod signed;
mod verify;
