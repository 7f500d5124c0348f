//! Sign-in, sessions, and forged requests.

mod authenticator;
mod csrf;
mod link;
mod memory;
mod passkey;
mod password;
mod session;

use super::client::{Page, WebClient};
use crate::harness::Hub;

const PASSWORD: &str = "three quiet words";

/// Sets a password on the settings page.
async fn set_password(client: &WebClient, password: &str) -> Page {
    let page = client.get("/inbox/settings").await.expect(200);
    let filled = [("password", password), ("again", password)];
    client.submit(&page, "/inbox/settings/password", &filled, None).await
}

/// Signs in with the form of the page `from`.
pub async fn sign_in(client: &WebClient, from: &str, name: &str, password: &str) -> Page {
    let page = client.get(from).await.expect(200);
    client
        .submit(&page, "form#signin", &[("name", name), ("password", password)], None)
        .await
}

async fn sign_out(client: &WebClient) -> Page {
    let page = client.get("/inbox").await.expect(200);
    client.submit(&page, "/signout", &[], None).await
}

/// Makes all sessions of the hub older.
pub async fn age_sessions(hub: &Hub, minutes: i64) {
    let millis = minutes * 60_000;
    let age = format!("UPDATE credential SET created_at = created_at - {millis} WHERE kind = 'session'");
    assert!(hub.execute(&age).await > 0, "a session was there");
}

/// Whether the inbox opens; without a session it redirects to the sign-in page.
async fn is_signed_in(client: &WebClient) -> bool {
    let page = client.get("/inbox").await.expect(200);
    let is_signed_in = page.url == "/inbox";
    assert!(is_signed_in || page.url.starts_with("/signin?next="), "{}", page.url);
    is_signed_in
}
