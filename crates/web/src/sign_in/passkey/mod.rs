//! Passkeys (WebAuthn). Each ceremony has two steps, with its challenge stored in between: `begin` gives the challenge
//! to the browser, `finish` verifies the response of the authenticator.

pub mod register;
mod relying_party;
pub mod sign_in;
