//! The list of people and their roles.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use countersign_core::access::Role;
use countersign_hub::Hub;
use countersign_hub::admin::links::new_link;
use countersign_hub::admin::people::{add_person, no_person, remove_person};
use countersign_hub::problem::Problem;
use countersign_store::ops::admin::people::{AccountChange, AddPerson, ListPeople, SetRole};

use super::flash::{DoneQuery, FlashMessage};
use crate::language::{say, t};
use crate::layout::filters;
use crate::layout::form::OwnerForm;
use crate::layout::formatting::{DisplayTime, display_time};
use crate::layout::page::{PageError, PageLayout, PageRequest, PageSection, render, see_other};
use crate::layout::signed_in_user::{SignedInOwner, SignedInUser};
use crate::lists::onboarding::is_local;

struct PersonRow {
    name: String,
    actor: String,
    role: &'static str,
    created_at: DisplayTime,
    signs_in: String,
    is_me: bool,
}

#[derive(Template)]
#[template(path = "settings_people.html")]
struct PeoplePage {
    layout: PageLayout,
    flash: FlashMessage,
    people: Vec<PersonRow>,
}

pub async fn page(
    State(hub): State<Arc<Hub>>,
    SignedInOwner(user): SignedInOwner,
    request: PageRequest,
    query: DoneQuery,
) -> Result<Response, PageError> {
    show(&hub, &user, &request, FlashMessage::from_query(&query)).await
}

async fn show(
    hub: &Hub,
    user: &SignedInUser,
    request: &PageRequest,
    flash: FlashMessage,
) -> Result<Response, PageError> {
    let row = |person: countersign_store::model::PersonSummary| PersonRow {
        is_me: person.name == user.name,
        signs_in: sign_in_methods(person.has_password, person.passkeys),
        name: person.name,
        actor: person.actor,
        role: person.role.as_str(),
        created_at: display_time(person.created_at),
    };
    let people = hub.store.run(ListPeople).await?.into_iter().map(row).collect();
    let layout = PageLayout::of(hub, user, request, PageSection::Settings, t("People")).await?;
    let page = PeoplePage { layout, flash, people };
    Ok(render(page.flash.status(), &page))
}

fn sign_in_methods(has_password: bool, passkeys: i64) -> String {
    match (has_password, passkeys) {
        (false, 0) => t("by link only").to_owned(),
        (true, 0) => t("password").to_owned(),
        (false, count) => say!("passkeys: {count}", count = count),
        (true, count) => say!("password, passkeys: {count}", count = count),
    }
}

fn role_of(text: &str) -> Result<Role, Problem> {
    text.parse()
        .map_err(|_| Problem::invalid("role", t("choose owner, resolver or viewer")))
}

/// A one-time sign-in link for an existing person.
async fn link_for(hub: &Hub, name: &str, actor: &str) -> Result<FlashMessage, Problem> {
    let (link, expires_at) = new_link(hub, name, actor).await?.ok_or_else(|| no_person(name))?;
    let title = say!("Give this link to {name}. It signs in once, until", name = name);
    Ok(FlashMessage::secret_until(title, display_time(expires_at), vec![(t("Link"), link)]).warn_if(is_local(hub)))
}

pub async fn invite(
    State(hub): State<Arc<Hub>>,
    request: PageRequest,
    posted: OwnerForm,
) -> Result<Response, PageError> {
    let OwnerForm { user, fields } = posted;
    let name = fields.text("name").trim().to_owned();
    let actor = user.actor().to_string();
    let invited = async {
        let person = AddPerson {
            name: name.clone(),
            reuse: fields.text("reuse") == name,
            role: role_of(fields.text("role"))?,
            token: None,
            actor: actor.clone(),
        };
        add_person(&hub, person).await.map_err(|problem| match problem {
            Problem::AlreadyExists { .. } => Problem::invalid(
                "name",
                say!(
                    "{name} already exists; make a new sign-in link for them below",
                    name = name
                ),
            ),
            other => other,
        })?;
        link_for(&hub, &name, &actor).await
    };
    let flash = invited
        .await
        .unwrap_or_else(|problem| FlashMessage::refused_name(problem, &name));
    show(&hub, &user, &request, flash).await
}

pub async fn link(State(hub): State<Arc<Hub>>, request: PageRequest, posted: OwnerForm) -> Result<Response, PageError> {
    let OwnerForm { user, fields } = posted;
    let made = link_for(&hub, fields.text("name"), user.actor().as_str()).await;
    show(&hub, &user, &request, made.unwrap_or_else(FlashMessage::from)).await
}

pub async fn role(State(hub): State<Arc<Hub>>, request: PageRequest, posted: OwnerForm) -> Result<Response, PageError> {
    let OwnerForm { user, fields } = posted;
    let name = fields.text("name").to_owned();
    let changed = async {
        let role = role_of(fields.text("role"))?;
        let change = SetRole {
            name: name.clone(),
            role,
            actor: user.actor().to_string(),
        };
        match hub.auth.revoke(change).await? {
            AccountChange::Done => Ok(()),
            AccountChange::NotFound => Err(no_person(&name)),
            AccountChange::LastOwner => Err(Problem::invalid(
                "role",
                t("the last owner must stay an owner; make another person an owner first"),
            )),
        }
    };
    match changed.await {
        Ok(()) => Ok(see_other("/inbox/settings/people?done=role")),
        Err(problem) => show(&hub, &user, &request, problem.into()).await,
    }
}

pub async fn remove(
    State(hub): State<Arc<Hub>>,
    request: PageRequest,
    posted: OwnerForm,
) -> Result<Response, PageError> {
    let OwnerForm { user, fields } = posted;
    match remove_person(&hub, fields.text("name"), user.actor().to_string()).await {
        Ok(()) => Ok(see_other("/inbox/settings/people?done=person")),
        Err(problem) => show(&hub, &user, &request, problem.into()).await,
    }
}
