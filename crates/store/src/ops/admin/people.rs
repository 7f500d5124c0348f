use countersign_core::Actor;
use countersign_core::access::Role;
use countersign_protocol::time::Timestamp;

use super::AddOutcome;
use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op};
use crate::model::PersonSummary;
use crate::ops::account::credential::{self, NewCredential};
use crate::ops::message::audit;
use crate::ops::row_lock;

/// Adds a person. Asks name their resolvers, so the name of a removed person is given again only with `reuse`: the new
/// person may then answer the open asks that name the removed one.
pub struct AddPerson {
    pub name: String,
    pub reuse: bool,
    pub role: Role,
    pub token: Option<NewCredential>,
    pub actor: String,
}

impl Op for AddPerson {
    type Out = AddOutcome;
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<AddOutcome, StoreError> {
        const INSERT: &str =
            "INSERT INTO person (name, role, created_at) VALUES (?1, ?2, ?3) ON CONFLICT (name) DO NOTHING";
        let was_used = audit::has_trail(x, &Actor::human(&self.name)).await?;
        if was_used && !self.reuse && !row_lock::person(x, &self.name).await? {
            return Ok(AddOutcome::UsedBefore);
        }
        let params = [(&self.name).into(), self.role.as_str().into(), now.into()];
        if x.exec(INSERT, &params).await? == 0 {
            return Ok(AddOutcome::Exists);
        }
        if let Some(token) = &self.token {
            credential::insert(x, token, now).await?;
        }
        let event = if was_used { "person.readded" } else { "person.added" };
        audit::append_about_person(x, &self.name, &self.actor, event, now).await?;
        Ok(AddOutcome::Added)
    }
}

/// Adds a token for an existing person. Returns whether the person exists.
pub struct AddPersonToken {
    pub name: String,
    pub token: NewCredential,
    pub actor: String,
}

impl Op for AddPersonToken {
    type Out = bool;
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<bool, StoreError> {
        if !row_lock::person(x, &self.name).await? {
            return Ok(false);
        }
        credential::insert(x, &self.token, now).await?;
        audit::append_about_person(x, &self.name, &self.actor, "person.token_added", now).await?;
        Ok(true)
    }
}

/// The result of a change to an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccountChange {
    Done,
    NotFound,
    /// Refused: without an owner the hub could not be administered.
    LastOwner,
}

/// Locks the person for a change that may cost the hub its last owner, and returns the objection, if any.
async fn lock_unless_last_owner<X: Exec>(x: &mut X, name: &str) -> Result<AccountChange, StoreError> {
    // The owners are locked first, so that two owners who change each other are serialized.
    let owners = row_lock::owners(x).await?;
    if !row_lock::person(x, name).await? {
        return Ok(AccountChange::NotFound);
    }
    if owners.iter().all(|owner| owner == name) {
        return Ok(AccountChange::LastOwner);
    }
    Ok(AccountChange::Done)
}

/// Takes effect from the person's next call; earlier decisions stay.
pub struct SetRole {
    pub name: String,
    pub role: Role,
    pub actor: String,
}

impl Op for SetRole {
    type Out = AccountChange;
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<AccountChange, StoreError> {
        const SET: &str = "UPDATE person SET role = ?1 WHERE name = ?2";
        let checked = lock_unless_last_owner(x, &self.name).await?;
        match (checked, self.role) {
            (AccountChange::Done, _) | (AccountChange::LastOwner, Role::Owner) => {}
            (AccountChange::NotFound, _) | (AccountChange::LastOwner, Role::Resolver | Role::Viewer) => {
                return Ok(checked);
            }
        }
        x.exec(SET, &[self.role.as_str().into(), (&self.name).into()]).await?;
        let event = format!("person.made_{}", self.role);
        audit::append_about_person(x, &self.name, &self.actor, &event, now).await?;
        Ok(AccountChange::Done)
    }
}

/// Removes the account and everything that belongs to it. The person's decisions stay.
pub struct RemovePerson {
    pub name: String,
    pub actor: String,
}

impl Op for RemovePerson {
    type Out = AccountChange;
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<AccountChange, StoreError> {
        const REMOVALS: [&str; 8] = [
            "DELETE FROM person WHERE name = ?1",
            "DELETE FROM credential WHERE kind IN ('person', 'signin', 'session', 'terminal') AND subject = ?1",
            "DELETE FROM passkey WHERE person = ?1",
            "DELETE FROM ceremony WHERE person = ?1",
            "DELETE FROM shelf WHERE person = ?1",
            "DELETE FROM ahead WHERE person = ?1",
            "DELETE FROM setting WHERE name = 'views:' || CAST(?1 AS TEXT)",
            // Without an owner from now on, so that a later person of the same name does not get them.
            "UPDATE terminal SET person = '' WHERE person = ?1",
        ];
        let checked = lock_unless_last_owner(x, &self.name).await?;
        if checked != AccountChange::Done {
            return Ok(checked);
        }
        for removal in REMOVALS {
            x.exec(removal, &[(&self.name).into()]).await?;
        }
        audit::append_about_person(x, &self.name, &self.actor, "person.removed", now).await?;
        Ok(AccountChange::Done)
    }
}

pub struct ListPeople;

impl Op for ListPeople {
    type Out = Vec<PersonSummary>;
    const MODE: AccessMode = AccessMode::Scan;

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
                    .map_err(|_| StoreError::Corrupt(format!("{role} is not a role")))?,
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

/// All people with the right to decide, for asks that name no resolver.
pub struct ListResolvers;

impl Op for ListResolvers {
    type Out = Vec<Actor>;
    const MODE: AccessMode = AccessMode::Read;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<Vec<Actor>, StoreError> {
        const SELECT: &str = "SELECT name FROM person WHERE role IN ('owner', 'resolver') ORDER BY name";
        let found = x.rows(SELECT, &[]).await?;
        found
            .into_iter()
            .map(|mut row| row.text(0).map(|name| Actor::human(&name)))
            .collect()
    }
}
