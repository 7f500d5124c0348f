//! Settling a message: who may, with what, and what everybody reads afterwards.

mod access;
mod cancel;
mod expiry;
mod outcome;
mod value;
