//! `person add|list|token|tokens|token-end|link|remove`.

use anyhow::Result;
use countersign_client::hub::HubClient;
use countersign_client::screen::{TextTable, escape};
use countersign_protocol::api::admin::{EndedToken, ListedPerson, ListedToken, NewAccess, PersonRef, SignInLink};
use serde_json::json;

use super::agent::new_account;
use crate::args::{PersonCommand, RoleArg};
use crate::commands::present;

pub async fn run(command: PersonCommand, client: &HubClient, json: bool) -> Result<String> {
    match command {
        PersonCommand::Add { name, role, reuse } => add(&name, role, reuse, client, json).await,
        PersonCommand::List => list(client, json).await,
        PersonCommand::Token { name, terminal, label } => {
            let mut body = json!({ "name": name, "terminal": terminal });
            if let Some(label) = label {
                body["label"] = label.into();
            }
            let reply = client.post(&["v1", "admin", "people", "token"], &body).await?;
            let done = if terminal {
                "has another token for terminals"
            } else {
                "has another access token"
            };
            present(&reply, json, |access: NewAccess| access_text(done, &access))
        }
        PersonCommand::Tokens { name } => tokens(&name, client, json).await,
        PersonCommand::TokenEnd { name, id } => {
            let body = json!({ "name": name, "id": id });
            let reply = client.post(&["v1", "admin", "people", "tokens", "end"], &body).await?;
            present(&reply, json, |ended: EndedToken| {
                format!(
                    "The token {} of {} has ended.\n",
                    escape(&ended.id),
                    escape(&ended.actor)
                )
            })
        }
        PersonCommand::Link { name } => {
            let reply = client
                .post(&["v1", "admin", "people", "link"], &json!({ "name": name }))
                .await?;
            present(&reply, json, |link: SignInLink| {
                let actor = escape(&link.actor);
                let url = escape(&link.url);
                format!(
                    "{actor} signs in with this link, once, until {}:\n\n  {url}\n",
                    link.expires_at
                )
            })
        }
        PersonCommand::Remove { name } => {
            let reply = client
                .post(&["v1", "admin", "people", "remove"], &json!({ "name": name }))
                .await?;
            present(&reply, json, |removed: PersonRef| {
                format!(
                    "{} removed. They are signed out and their tokens no longer work; what they decided stays.\n",
                    escape(&removed.actor)
                )
            })
        }
    }
}

async fn add(name: &str, role: Option<RoleArg>, reuse: bool, client: &HubClient, json: bool) -> Result<String> {
    let mut body = new_account("name", name, reuse);
    if let Some(role) = role {
        body["role"] = role.as_str().into();
    }
    let reply = client.post(&["v1", "admin", "people"], &body).await?;
    present(&reply, json, |access: NewAccess| access_text("added", &access))
}

fn access_text(done: &str, access: &NewAccess) -> String {
    let actor = escape(&access.actor);
    let token = escape(&access.token);
    format!("{actor} {done}.\n\n  token  {token}\n\nKeep it now: it is not shown again.\n")
}

async fn list(client: &HubClient, json: bool) -> Result<String> {
    let reply = client.get_field(&["v1", "admin", "people"], &[], "people").await?;
    present(&reply, json, |people: Vec<ListedPerson>| {
        let mut table = TextTable::new(&["NAME", "ACTOR", "ROLE", "TOKENS", "ADDED"]);
        for person in people {
            let tokens = person.tokens.to_string();
            let added = person.created_at.to_string();
            table.row([person.name, person.actor, person.role, tokens, added]);
        }
        table.render_or("No people yet.")
    })
}

async fn tokens(name: &str, client: &HubClient, json: bool) -> Result<String> {
    let path = ["v1", "admin", "people", "tokens"];
    let reply = client.get_field(&path, &[("name", name)], "tokens").await?;
    present(&reply, json, |tokens: Vec<ListedToken>| {
        let mut table = TextTable::new(&["ID", "FOR", "LABEL", "MADE"]);
        for token in tokens {
            let whose = if token.kind == "terminal" {
                "terminals"
            } else {
                "the person"
            };
            table.row([token.id, whose.to_owned(), token.label, token.created_at.to_string()]);
        }
        table.render_or("No tokens.")
    })
}
