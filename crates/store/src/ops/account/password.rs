//! A person's password hash. It is read here and nowhere else.

use countersign_protocol::time::Timestamp;

use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op};
use crate::ops::message::audit;

pub struct PasswordOf {
    pub person: String,
}

impl Op for PasswordOf {
    type Out = Option<String>;
    const MODE: AccessMode = AccessMode::Read;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<Option<String>, StoreError> {
        const SELECT: &str = "SELECT password FROM person WHERE name = ?1";
        match x.row(SELECT, &[(&self.person).into()]).await? {
            Some(mut row) => row.opt_text(0),
            None => Ok(None),
        }
    }
}

/// Sets or removes the password. Returns whether the person exists.
pub struct SetPassword {
    pub person: String,
    pub hash: Option<String>,
    pub actor: String,
}

impl Op for SetPassword {
    type Out = bool;
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<bool, StoreError> {
        const SET: &str = "UPDATE person SET password = ?1 WHERE name = ?2";
        if x.exec(SET, &[self.hash.as_ref().into(), (&self.person).into()]).await? == 0 {
            return Ok(false);
        }
        let event = if self.hash.is_some() {
            "person.password_set"
        } else {
            "person.password_removed"
        };
        audit::append_about_person(x, &self.person, &self.actor, event, now).await?;
        Ok(true)
    }
}
