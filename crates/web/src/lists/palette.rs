//! GET /inbox/palette: the views, orders, filters and settings pages that the command palette offers on every page.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use countersign_core::kind::kinds_to_decide;
use countersign_hub::Hub;
use countersign_store::model::InboxOrder;
use countersign_store::ops::list::Inbox;
use serde::Serialize;

use super::open::{FilterForm, FilterSuggestions, MenuEntry, PAGE_SIZE, views};
use super::row::encoded;
use crate::agents::agent_label;
use crate::language::{say, t};
use crate::layout::page::PageError;
use crate::layout::signed_in_user::SignedInUser;
use crate::settings::pages;

pub fn router() -> Router<Arc<Hub>> {
    Router::new().route("/inbox/palette", get(palette))
}

#[derive(Serialize)]
struct Command {
    text: String,
    href: String,
}

async fn palette(State(hub): State<Arc<Hub>>, user: SignedInUser) -> Result<Response, PageError> {
    let form = FilterForm::default();
    let views = views::entries(&hub, &user, &form).await?;
    let mut commands = labelled(t("View"), views);
    commands.extend(labelled(t("Sort"), form.orders()));
    if user.may_decide() {
        commands.extend(labelled(t("Show"), form.scopes()));
    }
    commands.extend(filters(&hub, &user).await?);
    commands.extend(pages(user.is_owner()).map(|(text, href)| Command {
        text: labelled_text(t("Settings"), t(text)),
        href: href.to_owned(),
    }));
    Ok(Json(commands).into_response())
}

fn labelled(label: &str, entries: impl IntoIterator<Item = MenuEntry>) -> Vec<Command> {
    let command = |entry: MenuEntry| Command {
        text: labelled_text(label, t(&entry.text)),
        href: entry.href,
    };
    entries.into_iter().map(command).collect()
}

fn labelled_text(label: &str, text: &str) -> String {
    say!("{label}: {text}", label = label, text = text)
}

/// The kinds, and the agents, projects and tags of the latest open items.
async fn filters(hub: &Hub, user: &SignedInUser) -> Result<Vec<Command>, PageError> {
    let latest = Inbox {
        viewer: Some(user.name.clone()),
        filter: FilterForm::default().filter_for(user),
        order: InboxOrder::Newest,
        waiting: Vec::new(),
        after: None,
        limit: PAGE_SIZE,
    };
    let page = hub.store.run(latest).await?;
    let known = FilterSuggestions::by(page.items.iter().flatten());
    let filter = |name: &str, value: &str, text: &str| Command {
        text: match name {
            "kind" => say!("Filter kind: {text}", text = t(text)),
            "agent" => say!("Filter agent: {text}", text = text),
            "project" => say!("Filter project: {text}", text = text),
            _ => say!("Filter tag: {text}", text = text),
        },
        href: format!("/inbox?{name}={}", encoded(value)),
    };
    let kinds = kinds_to_decide().map(|(kind, label)| filter("kind", kind, label));
    let agents = known.agents.iter().map(|agent| {
        let text = if agent.name == agent.id {
            agent_label(&agent.id)
        } else {
            agent.name.clone()
        };
        filter("agent", &agent.id, &text)
    });
    let projects = known.projects.iter().map(|name| filter("project", name, name));
    let tags = known.tags.iter().map(|tag| filter("tag", tag, tag));
    Ok(kinds.chain(agents).chain(projects).chain(tags).collect())
}
