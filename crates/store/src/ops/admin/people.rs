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
        audit::append_operation(x, Actor::human(&self.name).as_str(), &self.actor, "person.added", now).await?;
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
        audit::append_operation(x, Actor::human(&self.name).as_str(), &self.actor, "person.token_added", now).await?;
        Ok(true)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Removal {
    Removed,
    NotThere,
    /// Without an owner nobody could administer the hub again.
    LastOwner,
}

/// Ends the account and every token of it. What the person decided stays decided.
pub struct RemovePerson {
    pub name: String,
    pub actor: String,
}

impl Op for RemovePerson {
    type Out = Removal;
    const MODE: Mode = Mode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<Removal, StoreError> {
        const FORGET: &str = "DELETE FROM credential WHERE kind IN ('person', 'signin') AND subject = ?1";
        let name = [(&self.name).into()];
        // Before anything else: two owners who remove each other go one after the other.
        let owners = hold::owners(x).await?;
        if !hold::person(x, &self.name).await? {
            return Ok(Removal::NotThere);
        }
        if owners.iter().all(|owner| *owner == self.name) {
            return Ok(Removal::LastOwner);
        }
        x.exec("DELETE FROM person WHERE name = ?1", &name).await?;
        x.exec(FORGET, &name).await?;
        audit::append_operation(x, Actor::human(&self.name).as_str(), &self.actor, "person.removed", now).await?;
        Ok(Removal::Removed)
    }
}

pub struct ListPeople;

impl Op for ListPeople {
    type Out = Vec<PersonSummary>;
    const MODE: Mode = Mode::Scan;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<Vec<PersonSummary>, StoreError> {
        const SELECT: &str = "SELECT p.name, p.role, p.created_at, (SELECT COUNT(*) FROM credential c \
             WHERE c.kind = 'person' AND c.subject = p.name AND (c.expires_at IS NULL OR c.expires_at >= ?1)) \
             FROM person p ORDER BY p.name";
        let mut people = Vec::new();
        for mut row in x.rows(SELECT, &[now.into()]).await? {
            let (name, role) = (row.text(0)?, row.text(1)?);
            people.push(PersonSummary {
                actor: Actor::human(&name).to_string(),
                name,
                role: role.parse().map_err(|_| StoreError::Corrupt(format!("{role} is no role")))?,
                created_at: row.instant(2)?,
                tokens: row.int(3)?,
            });
        }
        Ok(people)
    }
}
