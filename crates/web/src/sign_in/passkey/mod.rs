//! Passkeys. Each act has two steps, with a challenge kept in the store between them: `begin` gives it to the browser,
//! `finish` takes what the authenticator made of it.

pub mod add;
pub mod enter;
mod relying_party;
