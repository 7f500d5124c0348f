//! Wire types and cryptography of the doors. No I/O, no clock, no randomness: bytes, timestamps and ids are arguments. Only the
//! jitter of [`backoff`] is random.

pub mod a2h;
pub mod api;
pub mod backoff;
pub mod escape;
pub mod frame_header;
pub mod hap;
pub mod hex;
pub mod id;
pub mod jcs;
pub mod json;
pub mod retry_after;
pub mod runs;
pub mod sse;
pub mod time;
pub mod webhooks;
