//! From command-line arguments to the content of a message.

pub mod content;
pub mod input;
pub mod resolvers;
