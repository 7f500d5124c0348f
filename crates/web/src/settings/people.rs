//! Who may look and decide.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use countersign_core::access::Role;
use countersign_hub::Hub;
use countersign_hub::admin::people::{check_name, no_person, remove_person};
use countersign_hub::auth::new_link;
use countersign_hub::problem::Problem;
use countersign_store::ops::admin::people::{AddPerson, Change, ListPeople, SetRole};

use super::flash::{DoneQuery, Word};
use crate::frame::filters;
use crate::frame::form::OwnerPosted;
use crate::frame::format::{Instant, instant};
use crate::frame::page::{Asked, Failure, Here, Shell, render, see_other};
use crate::frame::signed_in::{OwnerVisitor, Visitor};

struct PersonRow {
    name: String,
    actor: String,
    role: &'static str,
    created_at: Instant,
    signs_in: String,
    is_me: bool,
}

#[derive(Template)]
#[template(path = "settings_people.html")]
struct PeoplePage {
    shell: Shell,
    word: Word,
    people: Vec<PersonRow>,
}

pub async fn page(
    State(hub): State<Arc<Hub>>,
    OwnerVisitor(visitor): OwnerVisitor,
    asked: Asked,
    query: DoneQuery,
) -> Result<Response, Failure> {
    show(&hub, &visitor, &asked, Word::from_query(&query)).await
}

async fn show(hub: &Hub, visitor: &Visitor, asked: &Asked, word: Word) -> Result<Response, Failure> {
    let row = |person: countersign_store::model::PersonSummary| PersonRow {
        is_me: person.name == visitor.name,
        signs_in: ways(person.has_password, person.passkeys),
        name: person.name,
        actor: person.actor,
        role: person.role.as_str(),
        created_at: instant(person.created_at),
    };
    let people = hub.store.run(ListPeople).await?.into_iter().map(row).collect();
    let shell = Shell::of(hub, visitor, asked, Here::Settings, "People").await?;
    let page = PeoplePage { shell, word, people };
    Ok(render(page.word.status(), &page))
}

fn ways(has_password: bool, passkeys: i64) -> String {
    match (has_password, passkeys) {
        (false, 0) => "by link only".to_owned(),
        (true, 0) => "password".to_owned(),
        (false, count) => format!("passkeys: {count}"),
        (true, count) => format!("password, passkeys: {count}"),
    }
}

fn role_of(text: &str) -> Result<Role, Problem> {
    text.parse()
        .map_err(|_| Problem::invalid("role", "choose owner, resolver or viewer"))
}

/// A link of one use, for somebody who is there.
async fn link_for(hub: &Hub, name: &str, actor: &str) -> Result<Word, Problem> {
    let (link, expires_at) = new_link(hub, name, actor).await?.ok_or_else(|| no_person(name))?;
    let title = format!("Give this link to {name}. It signs in once, until");
    Ok(Word::once_until(title, instant(expires_at), vec![("Link", link)]))
}

pub async fn invite(State(hub): State<Arc<Hub>>, asked: Asked, posted: OwnerPosted) -> Result<Response, Failure> {
    let OwnerPosted { visitor, fields } = posted;
    let name = fields.text("name").trim().to_owned();
    let actor = visitor.actor().to_string();
    let invited = async {
        check_name(&name)?;
        let role = role_of(fields.text("role"))?;
        let person = AddPerson {
            name: name.clone(),
            role,
            token: None,
            actor: actor.clone(),
        };
        if !hub.store.run(person).await? {
            return Err(Problem::invalid(
                "name",
                format!("{name} is there already; make a new link for them below"),
            ));
        }
        link_for(&hub, &name, &actor).await
    };
    let word = invited.await.unwrap_or_else(Word::from);
    show(&hub, &visitor, &asked, word).await
}

pub async fn link(State(hub): State<Arc<Hub>>, asked: Asked, posted: OwnerPosted) -> Result<Response, Failure> {
    let OwnerPosted { visitor, fields } = posted;
    let made = link_for(&hub, fields.text("name"), visitor.actor().as_str()).await;
    show(&hub, &visitor, &asked, made.unwrap_or_else(Word::from)).await
}

pub async fn role(State(hub): State<Arc<Hub>>, asked: Asked, posted: OwnerPosted) -> Result<Response, Failure> {
    let OwnerPosted { visitor, fields } = posted;
    let name = fields.text("name").to_owned();
    let changed = async {
        let role = role_of(fields.text("role"))?;
        let change = SetRole {
            name: name.clone(),
            role,
            actor: visitor.actor().to_string(),
        };
        match hub.end_credentials(change).await? {
            Change::Done => Ok(()),
            Change::NotThere => Err(no_person(&name)),
            Change::LastOwner => Err(Problem::invalid(
                "role",
                "the last owner stays one; make another one first",
            )),
        }
    };
    match changed.await {
        Ok(()) => Ok(see_other("/inbox/settings/people?done=role")),
        Err(problem) => show(&hub, &visitor, &asked, problem.into()).await,
    }
}

pub async fn remove(State(hub): State<Arc<Hub>>, asked: Asked, posted: OwnerPosted) -> Result<Response, Failure> {
    let OwnerPosted { visitor, fields } = posted;
    match remove_person(&hub, fields.text("name"), visitor.actor().to_string()).await {
        Ok(()) => Ok(see_other("/inbox/settings/people?done=person")),
        Err(problem) => show(&hub, &visitor, &asked, problem.into()).await,
    }
}
