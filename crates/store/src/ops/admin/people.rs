use countersign_core::Actor;
use countersign_core::access::Role;
use countersign_protocol::time::Timestamp;

use crate::error::StoreError;
use crate::exec::{Exec, Mode, Op};
use crate::model::PersonSummary;
use crate::ops::credential::{self, NewCredential};
use crate::ops::{audit, hold};

/// Says whether the name was free.
pub struct AddPerson {
    pub name: String,
    pub role: Role,
    pub token: Option<NewCredential>,
    pub actor: String,
}

impl Op for AddPerson {
    type Out = bool;
    const MODE: Mode = Mode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<bool, StoreError> {
        const INSERT: &str =
            "INSERT INTO person (name, role, created_at) VALUES (?1, ?2, ?3) ON CONFLICT (name) DO NOTHING";
        let params = [(&self.name).into(), self.role.as_str().into(), now.into()];
        if x.exec(INSERT, &params).await? == 0 {
            return Ok(false);
        }
        if let Some(token) = &self.token {
            credential::insert(x, token, now).await?;
        }
        audit::append_about_person(x, &self.name, &self.actor, "person.added", now).await?;
        Ok(true)
    }
}

/// Another token for somebody who is there. Says whether they are.
pub struct AddPersonToken {
    pub name: String,
    pub token: NewCredential,
    pub actor: String,
}

impl Op for AddPersonToken {
    type Out = bool;
    const MODE: Mode = Mode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<bool, StoreError> {
        if !hold::person(x, &self.name).await? {
            return Ok(false);
        }
        credential::insert(x, &self.token, now).await?;
        audit::append_about_person(x, &self.name, &self.actor, "person.token_added", now).await?;
        Ok(true)
    }
}

/// What became of a change to an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    Done,
    NotThere,
    /// Without an owner nobody could administer the hub again.
    LastOwner,
}

/// Holds the person for a change that may cost the hub an owner; says what speaks against it.
async fn hold_without_losing_owners<X: Exec>(x: &mut X, name: &str) -> Result<Change, StoreError> {
    // Before anything else: two owners who change each other go one after the other.
    let owners = hold::owners(x).await?;
    if !hold::person(x, name).await? {
        return Ok(Change::NotThere);
    }
    if owners.iter().all(|owner| owner == name) {
        return Ok(Change::LastOwner);
    }
    Ok(Change::Done)
}

/// From the next call on: what the person decided before stays decided.
pub struct SetRole {
    pub name: String,
    pub role: Role,
    pub actor: String,
}

impl Op for SetRole {
    type Out = Change;
    const MODE: Mode = Mode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<Change, StoreError> {
        const SET: &str = "UPDATE person SET role = ?1 WHERE name = ?2";
        let held = hold_without_losing_owners(x, &self.name).await?;
        match (held, self.role) {
            (Change::Done, _) | (Change::LastOwner, Role::Owner) => {}
            (Change::NotThere, _) | (Change::LastOwner, Role::Resolver | Role::Viewer) => return Ok(held),
        }
        x.exec(SET, &[self.role.as_str().into(), (&self.name).into()]).await?;
        let event = format!("person.made_{}", self.role);
        audit::append_about_person(x, &self.name, &self.actor, &event, now).await?;
        Ok(Change::Done)
    }
}

/// Ends the account and all that belongs to it. What the person decided stays decided.
pub struct RemovePerson {
    pub name: String,
    pub actor: String,
}

impl Op for RemovePerson {
    type Out = Change;
    const MODE: Mode = Mode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<Change, StoreError> {
        const REMOVALS: [&str; 7] = [
            "DELETE FROM person WHERE name = ?1",
            "DELETE FROM credential WHERE kind IN ('person', 'signin', 'session', 'terminal') AND subject = ?1",
            "DELETE FROM passkey WHERE person = ?1",
            "DELETE FROM ceremony WHERE person = ?1",
            "DELETE FROM shelf WHERE person = ?1",
            "DELETE FROM ahead WHERE person = ?1",
            // Nobody's from now on, and not a namesake's.
            "UPDATE terminal SET person = '' WHERE person = ?1",
        ];
        let held = hold_without_losing_owners(x, &self.name).await?;
        if held != Change::Done {
            return Ok(held);
        }
        for removal in REMOVALS {
            x.exec(removal, &[(&self.name).into()]).await?;
        }
        audit::append_about_person(x, &self.name, &self.actor, "person.removed", now).await?;
        Ok(Change::Done)
    }
}

pub struct ListPeople;

impl Op for ListPeople {
    type Out = Vec<PersonSummary>;
    const MODE: Mode = Mode::Scan;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<Vec<PersonSummary>, StoreError> {
        const SELECT: &str = "SELECT p.name, p.role, p.created_at, (SELECT COUNT(*) FROM credential c \
             WHERE c.kind = 'person' AND c.subject = p.name AND (c.expires_at IS NULL OR c.expires_at >= ?1)), \
             (SELECT COUNT(*) FROM credential c WHERE c.kind = 'session' AND c.subject = p.name AND c.expires_at >= ?1), \
             (SELECT COUNT(*) FROM passkey k WHERE k.person = p.name), \
             CASE WHEN p.password IS NULL THEN 0 ELSE 1 END FROM person p ORDER BY p.name";
        let mut people = Vec::new();
        for mut row in x.rows(SELECT, &[now.into()]).await? {
            let name = row.text(0)?;
            let role = row.text(1)?;
            people.push(PersonSummary {
                actor: Actor::human(&name).to_string(),
                name,
                role: role
                    .parse()
                    .map_err(|_| StoreError::Corrupt(format!("{role} is no role")))?,
                created_at: row.instant(2)?,
                tokens: row.int(3)?,
                sessions: row.int(4)?,
                passkeys: row.int(5)?,
                has_password: row.int(6)? == 1,
            });
        }
        Ok(people)
    }
}

/// Everybody who may decide anything at all, for asks that name nobody.
pub struct Resolvers;

impl Op for Resolvers {
    type Out = Vec<Actor>;
    const MODE: Mode = Mode::Read;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<Vec<Actor>, StoreError> {
        const SELECT: &str = "SELECT name FROM person WHERE role IN ('owner', 'resolver') ORDER BY name";
        let found = x.rows(SELECT, &[]).await?;
        found
            .into_iter()
            .map(|mut row| row.text(0).map(|name| Actor::human(&name)))
            .collect()
    }
}
