//! The WebAuthn relying party: this hub, under the one address at which people open it.

use std::time::Duration;

use axum::http::{HeaderMap, header};
use countersign_hub::Hub;
use countersign_hub::auth::{is_random_text, random_text};
use countersign_hub::problem::Problem;
use countersign_hub::problem::no_randomness;
use countersign_store::ops::account::ceremony::{BeginCeremony, Ceremony, HasCeremony, TakeCeremony};
use countersign_telemetry::request::error_id;
use url::Url;
use webauthn_rs::prelude::WebauthnError;
use webauthn_rs::{Webauthn, WebauthnBuilder};

use crate::language::{say, t};
use crate::layout::form::check_origin;
use crate::layout::page::PageError;

const CEREMONY_TTL: Duration = Duration::from_secs(5 * 60);

/// Requires JSON, which the scripts of our pages send and a form of another site cannot.
pub fn check_script(headers: &HeaderMap) -> Result<(), Problem> {
    let kind = headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let is_json = kind
        .split(';')
        .next()
        .is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"));
    if !is_json {
        return Err(Problem::malformed("send this as application/json"));
    }
    check_origin(headers).map_err(to_problem)
}

/// The failure as a problem, for a script instead of a page.
pub fn to_problem(failure: PageError) -> Problem {
    match failure {
        PageError::Problem(problem) => problem,
        PageError::SignIn { .. } | PageError::SignedOut => Problem::NotAuthorized {
            message: t("you are signed out; sign in again").to_owned(),
        },
    }
}

pub fn refused(message: &str) -> Problem {
    Problem::NotAuthorized {
        message: message.to_owned(),
    }
}

pub fn too_late() -> Problem {
    refused(t("this attempt timed out or was already used; try again"))
}

/// The reason goes to the log only, because it does not help the person.
pub fn not_accepted(error: &WebauthnError) -> Problem {
    tracing::warn!(%error, "passkey rejected");
    refused(t("this passkey was not accepted; try again"))
}

pub fn relying_party(hub: &Hub, headers: &HeaderMap) -> Result<Webauthn, Problem> {
    let opened = headers.get(header::ORIGIN).and_then(|value| value.to_str().ok());
    relying_party_at(hub.process.browser_url(), opened)
}

fn relying_party_at(address: &str, opened: Option<&str>) -> Result<Webauthn, Problem> {
    let url = Url::parse(address).ok();
    let Some((url, name)) = url.as_ref().and_then(|url| Some((url, url.domain()?))) else {
        let message = say!(
            "passkeys need a host name, and {address} has none; set public_url to an address with a host name",
            address = address
        );
        return Err(Problem::validation("address", message));
    };
    let origin = url.origin().ascii_serialization();
    if opened.is_some_and(|opened| opened != origin) {
        let message = say!(
            "passkeys of this hub work under {origin} only; open {origin}/signin",
            origin = origin
        );
        return Err(Problem::validation("address", message));
    }
    let builder = WebauthnBuilder::new(name, url).map(|builder| builder.rp_name("Countersign").timeout(CEREMONY_TTL));
    builder
        .and_then(WebauthnBuilder::build)
        .map_err(|error| not_accepted(&error))
}

/// Stores the state that `finish` needs and returns its id.
pub async fn store_ceremony(hub: &Hub, person: Option<String>, body: String) -> Result<String, Problem> {
    let id = random_text().map_err(no_randomness)?;
    let expires_at = hub.store.clock().now().plus(CEREMONY_TTL);
    hub.store
        .run(BeginCeremony {
            id: id.clone(),
            person,
            body,
            expires_at,
        })
        .await?;
    Ok(id)
}

/// Takes the state that `begin` stored, once and for the same person. Made-up ids are refused by a read, so that they
/// cannot load the store's single writer.
pub async fn take_ceremony(hub: &Hub, id: String, person: Option<&str>) -> Result<Option<String>, Problem> {
    if !is_random_text(&id) || !hub.store.run(HasCeremony { id: id.clone() }).await? {
        return Ok(None);
    }
    let ceremony = hub.store.run(TakeCeremony { id }).await?;
    Ok(ceremony
        .filter(|Ceremony { person: whose, .. }| whose.as_deref() == person)
        .map(|ceremony| ceremony.body))
}

/// A stored passkey that cannot be read or written is an internal error, not the person's.
pub fn passkey_unreadable(error: &serde_json::Error) -> Problem {
    let id = error_id();
    tracing::error!(error_id = %id, %error, "stored passkey is not valid JSON");
    Problem::Unavailable { id }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(address: &str, opened: Option<&str>) -> String {
        relying_party_at(address, opened).expect_err("refused").message()
    }

    #[test]
    fn passkeys_work_under_the_public_host_name() {
        let local = relying_party_at("http://localhost:7422", Some("http://localhost:7422")).unwrap();
        assert_eq!(local.get_allowed_origins()[0].as_str(), "http://localhost:7422/");
        assert!(relying_party_at("https://hub.example", Some("https://hub.example")).is_ok());
        assert!(relying_party_at("https://hub.example", None).is_ok());
    }

    #[test]
    fn other_addresses_are_refused_with_the_right_one() {
        assert!(
            refusal("http://localhost:7422", Some("http://127.0.0.1:7422")).contains("http://localhost:7422/signin")
        );
        assert!(refusal("http://localhost:7422", Some("http://localhost:7423")).contains("http://localhost:7422"));
        assert!(refusal("https://10.0.0.5", Some("https://10.0.0.5")).contains("public_url"));
    }
}
