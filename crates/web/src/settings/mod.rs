//! Settings: personal ones, and for owners those of the hub. A secret is shown once, to the person who made it.

mod agent;
mod agents;
mod deliveries;
mod flash;
mod passkeys;
mod people;
mod personal;
mod presets;
mod sessions;
mod tokens;
mod undo;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};
use countersign_hub::Hub;

pub use presets::reasons;

/// The pages of the settings: name and address.
pub fn pages(is_owner: bool) -> impl Iterator<Item = (&'static str, &'static str)> {
    const OWN: [(&str, &str); 1] = [("My account", "/inbox/settings")];
    const OF_OWNERS: [(&str, &str); 4] = [
        ("People", "/inbox/settings/people"),
        ("Agents", "/inbox/settings/agents"),
        ("Deliveries", "/inbox/settings/deliveries"),
        ("Rejection reasons", "/inbox/settings/presets"),
    ];
    OWN.into_iter().chain(OF_OWNERS.into_iter().filter(move |_| is_owner))
}

pub fn router() -> Router<Arc<Hub>> {
    Router::new()
        .route("/inbox/settings", get(personal::page))
        .route("/inbox/settings/password", post(personal::set_password))
        .route("/inbox/settings/password/remove", post(personal::remove_password))
        .route("/inbox/settings/passkeys/remove", post(passkeys::remove))
        .route("/inbox/settings/sessions/end", post(sessions::end))
        .route("/inbox/settings/sessions/end-others", post(sessions::end_others))
        .route("/inbox/settings/tokens", post(tokens::add))
        .route("/inbox/settings/tokens/end", post(tokens::end))
        .route("/inbox/settings/undo", post(undo::save))
        .merge(owner_router())
}

fn owner_router() -> Router<Arc<Hub>> {
    Router::new()
        .route("/inbox/settings/people", get(people::page).post(people::invite))
        .route("/inbox/settings/people/link", post(people::link))
        .route("/inbox/settings/people/role", post(people::role))
        .route("/inbox/settings/people/remove", post(people::remove))
        .route("/inbox/settings/agents", get(agents::page).post(agents::add))
        .route("/inbox/settings/agents/one", get(agent::page))
        .route("/inbox/settings/agents/rotate", post(agent::rotate))
        .route("/inbox/settings/agents/remove", post(agent::remove))
        .route("/inbox/settings/agents/hosts/approve", post(agent::approve_host))
        .route("/inbox/settings/agents/hosts/remove", post(agent::remove_host))
        .route("/inbox/settings/agents/secrets", post(agent::set_secret))
        .route("/inbox/settings/agents/secrets/remove", post(agent::remove_secret))
        .route("/inbox/settings/deliveries", get(deliveries::page))
        .route("/inbox/settings/deliveries/retry", post(deliveries::retry))
        .route("/inbox/settings/presets", get(presets::page).post(presets::save))
}
