//! Saved views: a name for a filter and an order of the inbox, per person.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::post;
use countersign_hub::Hub;
use countersign_hub::problem::Problem;
use countersign_store::ops::account::setting::{PutSetting, Setting};
use serde::{Deserialize, Serialize};

use super::filter_form::{FilterForm, MenuEntry};
use crate::layout::form::{FormFields, PostedForm};
use crate::layout::page::{PageError, see_other};
use crate::layout::signed_in_user::SignedInUser;

const MAX_VIEWS: usize = 20;
const MAX_NAME_CHARS: usize = 40;
const MAX_QUERY_BYTES: usize = 2000;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct View {
    name: String,
    /// The query of the list, with its question mark; empty for the plain inbox.
    query: String,
}

pub fn router() -> Router<Arc<Hub>> {
    Router::new()
        .route("/inbox/views", post(save))
        .route("/inbox/views/remove", post(remove))
}

/// The store removes the setting together with the person.
fn setting_name(user: &SignedInUser) -> String {
    format!("views:{}", user.name)
}

/// A value that cannot be read counts as no views; the next save replaces it.
async fn views(hub: &Hub, user: &SignedInUser) -> Result<Vec<View>, PageError> {
    let name = setting_name(user);
    let stored = hub.store.run(Setting { name }).await?;
    Ok(stored
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default())
}

async fn put(hub: &Hub, user: &SignedInUser, views: &[View]) -> Result<(), PageError> {
    let value = serde_json::to_string(views).unwrap_or_default();
    hub.store
        .run(PutSetting {
            name: setting_name(user),
            value,
            actor: user.actor().to_string(),
        })
        .await?;
    Ok(())
}

/// The user's views; the one that is shown is current.
pub async fn entries(hub: &Hub, user: &SignedInUser, shown: &FilterForm) -> Result<Vec<MenuEntry>, PageError> {
    let shown = shown.address("", None, None);
    let entry = |view: View| MenuEntry {
        is_current: view.query == shown,
        href: format!("/inbox{}", view.query),
        text: view.name,
    };
    Ok(views(hub, user).await?.into_iter().map(entry).collect())
}

/// Saves the list that is shown under a name. The same name again replaces the view.
async fn save(State(hub): State<Arc<Hub>>, posted: PostedForm) -> Result<Response, PageError> {
    let view = new_view(&posted.fields)?;
    let mut views = views(&hub, &posted.user).await?;
    views.retain(|other| other.name != view.name);
    if views.len() >= MAX_VIEWS {
        let message = format!("there are {MAX_VIEWS} views already; remove one first");
        return Err(Problem::invalid("name", message).into());
    }
    let href = format!("/inbox{}", view.query);
    views.push(view);
    put(&hub, &posted.user, &views).await?;
    Ok(see_other(&href))
}

async fn remove(State(hub): State<Arc<Hub>>, posted: PostedForm) -> Result<Response, PageError> {
    let mut views = views(&hub, &posted.user).await?;
    views.retain(|view| view.name != posted.fields.text("name"));
    put(&hub, &posted.user, &views).await?;
    Ok(see_other("/inbox"))
}

/// The query is read and written again, so that only parameters of the list are kept.
fn new_view(fields: &FormFields) -> Result<View, Problem> {
    let name = fields.text("name").trim();
    let is_visible = countersign_protocol::escape::escape(name) == name;
    if name.is_empty() || name.chars().count() > MAX_NAME_CHARS || !is_visible {
        let message = format!("give a name of 1 to {MAX_NAME_CHARS} visible characters");
        return Err(Problem::invalid("name", message));
    }
    let query = fields.text("query").trim_start_matches('?');
    if query.len() > MAX_QUERY_BYTES {
        return Err(Problem::invalid("query", "the filters are too long to save"));
    }
    Ok(View {
        name: name.to_owned(),
        query: FilterForm::of(&FormFields::parse(query.as_bytes())).address("", None, None),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(form: &str) -> Result<View, Problem> {
        new_view(&FormFields::parse(form.as_bytes()))
    }

    #[test]
    fn view_keeps_only_what_the_list_understands() {
        let saved = view("name=+Money+&query=%3Ftag%3Dmoney%26sort%3Dnewest%26cursor%3D1.2%26x%3Dy").expect("a view");
        assert_eq!(
            (saved.name.as_str(), saved.query.as_str()),
            ("Money", "?tag=money&sort=newest")
        );
        assert_eq!(view("name=All&query=").expect("a view").query, "");
    }

    #[test]
    fn bad_names_are_refused_by_field() {
        let long = format!("name={}", "x".repeat(41));
        for form in ["", "name=++", "name=a%E2%80%AEb", &long] {
            assert_eq!(view(form).expect_err(form).field(), Some("name"), "{form}");
        }
        let query = format!("name=a&query=tag%3D{}", "x".repeat(3000));
        assert_eq!(view(&query).expect_err("too long").field(), Some("query"));
    }
}
