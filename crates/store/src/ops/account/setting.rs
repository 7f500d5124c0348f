//! Hub-wide settings, by name.

use countersign_protocol::time::Timestamp;

use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op};
use crate::ops::message::audit;

pub struct Setting {
    pub name: String,
}

impl Op for Setting {
    type Out = Option<String>;
    const MODE: AccessMode = AccessMode::Read;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<Option<String>, StoreError> {
        const SELECT: &str = "SELECT value FROM setting WHERE name = ?1";
        x.row(SELECT, &[(&self.name).into()])
            .await?
            .map(|mut row| row.text(0))
            .transpose()
    }
}

pub struct PutSetting {
    pub name: String,
    pub value: String,
    pub actor: String,
}

impl Op for PutSetting {
    type Out = ();
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<(), StoreError> {
        put(x, &self.name, &self.value).await?;
        let event = format!("setting.{}_changed", self.name);
        audit::append_operation(x, "hub", &self.actor, &event, now).await
    }
}

pub(in crate::ops) async fn put<X: Exec>(x: &mut X, name: &str, value: &str) -> Result<(), StoreError> {
    const PUT: &str = "INSERT INTO setting (name, value) VALUES (?1, ?2) \
         ON CONFLICT (name) DO UPDATE SET value = excluded.value";
    x.exec(PUT, &[name.into(), value.into()]).await.map(drop)
}
