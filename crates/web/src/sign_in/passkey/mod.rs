//! Passkeys (WebAuthn). Each ceremony has two steps, with its challenge stored in between: `begin` gives the challenge
//! to the browser, `finish` verifies the response of the authenticator.

pub mod add;
pub mod enter;
mod relying_party;
