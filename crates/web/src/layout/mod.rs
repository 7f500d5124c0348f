//! What every page shares: its layout, the signed-in person, posted forms, formatting, and the stream of events.

pub mod avatar;
pub mod compression;
pub mod events;
pub mod filters;
pub mod form;
pub mod formatting;
pub mod look;
pub mod not_found;
pub mod page;
pub mod qr_code;
pub mod signed_in_user;
pub mod upload;
pub mod zone;
