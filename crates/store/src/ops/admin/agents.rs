use std::time::Duration;

use countersign_core::Actor;
use countersign_protocol::time::Timestamp;

use super::AddOutcome;
use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op};
use crate::model::{AgentSummary, SignatureAlg};
use crate::ops::account::credential::{self, CredentialKind, NewCredential};
use crate::ops::message::{audit, quota};
use crate::ops::{row_lock, terminal};

pub const TOKEN_LABEL: &str = "token";

fn token(agent_id: &str, hash: [u8; 32]) -> NewCredential {
    let subject = agent_id.to_owned();
    let label = TOKEN_LABEL.to_owned();
    NewCredential {
        hash,
        kind: CredentialKind::Agent,
        subject,
        label,
        expires_at: None,
    }
}

/// Adds an agent. Its id is the key of its messages, so the id of a removed agent is given again only with `reuse`: the
/// new agent then gets the messages and answers of the removed one.
pub struct AddAgent {
    pub id: String,
    pub reuse: bool,
    pub signature_alg: SignatureAlg,
    pub token_hash: [u8; 32],
    pub signing_key: String,
    pub actor: String,
}

impl Op for AddAgent {
    type Out = AddOutcome;
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<AddOutcome, StoreError> {
        const INSERT: &str =
            "INSERT INTO agent (id, signature_alg, created_at) VALUES (?1, ?2, ?3) ON CONFLICT (id) DO NOTHING";
        let subject = Actor::agent(&self.id);
        let was_used = audit::has_trail(x, &subject).await?;
        if was_used && !self.reuse && !row_lock::agent(x, &self.id).await? {
            return Ok(AddOutcome::UsedBefore);
        }
        let params = [(&self.id).into(), self.signature_alg.as_str().into(), now.into()];
        if x.exec(INSERT, &params).await? == 0 {
            return Ok(AddOutcome::Exists);
        }
        x.exec("DELETE FROM terminal WHERE agent_id = ?1", &[(&self.id).into()])
            .await?;
        count_orphaned_messages(x, &self.id).await?;
        credential::insert(x, &token(&self.id, self.token_hash), now).await?;
        super::keys::insert_signing_key(x, &self.id, &self.signing_key, now).await?;
        let event = if was_used { "agent.readded" } else { "agent.added" };
        audit::append_operation(x, subject.as_str(), &self.actor, event, now).await?;
        Ok(AddOutcome::Added)
    }
}

/// Counts the messages that an earlier agent of this id left open. They are locked meanwhile: a concurrent resolution
/// does not see this agent yet and would not release its slot.
pub async fn count_orphaned_messages<X: Exec>(x: &mut X, id: &str) -> Result<(), StoreError> {
    const HOLD: &str = "UPDATE message SET rev = rev WHERE agent_id = ?1 AND status = 'open'";
    let open = x.exec(HOLD, &[id.into()]).await?;
    if open == 0 {
        return Ok(());
    }
    let open = i64::try_from(open).unwrap_or(i64::MAX);
    quota::release_orphans(x, open).await?;
    x.exec("UPDATE agent SET open = ?1 WHERE id = ?2", &[open.into(), id.into()])
        .await
        .map(drop)
}

/// The first of these agents that exists and can resolve messages. Terminal agents cannot.
pub struct ExistingAgents {
    pub ids: Vec<String>,
}

impl Op for ExistingAgents {
    type Out = Vec<String>;
    const MODE: AccessMode = AccessMode::Read;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<Vec<String>, StoreError> {
        const SELECT: &str = "SELECT 1 FROM agent a WHERE a.id = ?1 \
             AND NOT EXISTS (SELECT 1 FROM terminal w WHERE w.agent_id = a.id)";
        let mut existing = Vec::new();
        for id in &self.ids {
            if x.row(SELECT, &[id.into()]).await?.is_some() {
                existing.push(id.clone());
            }
        }
        Ok(existing)
    }
}

/// Without terminal agents, which have no tokens and no keys.
pub struct ListAgents;

impl Op for ListAgents {
    type Out = Vec<AgentSummary>;
    const MODE: AccessMode = AccessMode::Scan;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<Vec<AgentSummary>, StoreError> {
        const SELECT: &str = "SELECT a.id, a.signature_alg, a.created_at, a.open, a.seen_at, \
             COALESCE(a.name, a.id), \
             (SELECT COUNT(*) FROM credential c WHERE c.kind = 'agent' AND c.subject = a.id \
             AND (c.expires_at IS NULL OR c.expires_at >= ?1)), \
             (SELECT COUNT(*) FROM signing_key k WHERE k.agent_id = a.id \
             AND (k.retires_at IS NULL OR k.retires_at >= ?1)) FROM agent a \
             WHERE NOT EXISTS (SELECT 1 FROM terminal w WHERE w.agent_id = a.id) ORDER BY a.id";
        let mut agents = Vec::new();
        for mut row in x.rows(SELECT, &[now.into()]).await? {
            let alg = row.text(1)?;
            agents.push(AgentSummary {
                agent_id: row.text(0)?,
                signature_alg: SignatureAlg::parse(&alg)
                    .ok_or_else(|| StoreError::Corrupt(format!("{alg} is not a signature algorithm")))?,
                created_at: row.instant(2)?,
                open: row.int(3)?,
                seen_at: row.opt_instant(4)?,
                name: row.text(5)?,
                tokens: row.int(6)?,
                signing_keys: row.int(7)?,
            });
        }
        Ok(agents)
    }
}

/// Adds a new token and key; the old ones expire after the overlap. `None` if the agent does not exist or is a terminal
/// agent, which uses its person's token.
pub struct RotateAgent {
    pub id: String,
    pub token_hash: [u8; 32],
    pub signing_key: String,
    pub overlap: Duration,
    pub actor: String,
}

impl Op for RotateAgent {
    type Out = Option<Timestamp>;
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        const END_TOKENS: &str = "UPDATE credential SET expires_at = ?1 WHERE kind = 'agent' AND subject = ?2 \
             AND (expires_at IS NULL OR expires_at > ?1)";
        if !row_lock::agent(x, &self.id).await? || terminal::person_of(x, &self.id).await?.is_some() {
            return Ok(None);
        }
        let old_valid_until = now.plus(self.overlap);
        x.exec(END_TOKENS, &[old_valid_until.into(), (&self.id).into()]).await?;
        super::keys::retire_signing_keys(x, &self.id, old_valid_until, now).await?;
        credential::insert(x, &token(&self.id, self.token_hash), now).await?;
        super::keys::insert_signing_key(x, &self.id, &self.signing_key, now).await?;
        audit::append_operation(x, &format!("agent:{}", self.id), &self.actor, "agent.rotated", now).await?;
        Ok(Some(old_valid_until))
    }
}

/// Removes the agent with its credentials, keys, hosts and secrets, and detaches a terminal agent from its person. Its
/// messages stay, for people to see and decide.
pub struct RemoveAgent {
    pub id: String,
    pub actor: String,
}

impl Op for RemoveAgent {
    type Out = bool;
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<bool, StoreError> {
        const REMOVALS: [&str; 6] = [
            "DELETE FROM credential WHERE kind = 'agent' AND subject = ?1",
            "DELETE FROM signing_key WHERE agent_id = ?1",
            "DELETE FROM callback_host WHERE agent_id = ?1",
            "DELETE FROM secret WHERE agent_id = ?1",
            "DELETE FROM ahead WHERE agent_id = ?1",
            // Without an owner from now on.
            "UPDATE terminal SET person = '' WHERE agent_id = ?1",
        ];
        let removed = x
            .row("DELETE FROM agent WHERE id = ?1 RETURNING open", &[(&self.id).into()])
            .await?;
        let Some(mut agent) = removed else { return Ok(false) };
        let open = agent.int(0)?;
        terminal::release(x, &self.id, open).await?;
        for removal in REMOVALS {
            x.exec(removal, &[(&self.id).into()]).await?;
        }
        audit::append_operation(x, &format!("agent:{}", self.id), &self.actor, "agent.removed", now).await?;
        // Last, in the same lock order as releasing a slot.
        if open > 0 {
            quota::add_orphans(x, open).await?;
        }
        Ok(true)
    }
}
