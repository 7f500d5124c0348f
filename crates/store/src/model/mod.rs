//! Inputs and results of store operations that have no type in `core`.

mod inbox;

pub use inbox::{Cursor, InboxOrder, InboxSection, InboxWalk};

use std::fmt;

use countersign_core::access::Role;
use countersign_core::audit::AuditRecord;
use countersign_core::delivery::DeliveryState;
use countersign_core::hold::Hold;
use countersign_core::message::{Callback, Content, Message, Resolution, Source, Status};
use countersign_core::{Digest, Rejection, State};
use countersign_protocol::a2h::{Kind, Priority};
use countersign_protocol::id::{MessageId, ResolutionId};
use countersign_protocol::time::Timestamp;
use serde::Serialize;

use crate::error::Unreadable;

/// A message that a door has accepted. Its texts are serialized beforehand, to keep work off the shared writer thread.
#[derive(Debug, Clone)]
pub struct NewMessage {
    pub id: MessageId,
    pub agent_id: String,
    pub kind: Kind,
    pub rank: i64,
    pub received_at: Timestamp,
    pub expires_at: Option<Timestamp>,
    pub idempotency_key: Option<String>,
    pub source: String,
    pub callback: Option<String>,
    /// The content shown to people, unless it is read from `wire`.
    pub content: Option<String>,
    pub wire: String,
    pub audit: AuditRecord,
}

/// A message as its door has read it. The row and the first audit record are made from it, alike for every door.
pub struct Incoming<'a> {
    pub id: MessageId,
    pub agent_id: String,
    pub kind: Kind,
    pub priority: Priority,
    pub received_at: Timestamp,
    /// The hub's own clock. An imported message was received earlier.
    pub recorded_at: Timestamp,
    /// The name of the first audit record.
    pub event: &'static str,
    pub expires_at: Option<Timestamp>,
    pub idempotency_key: Option<String>,
    pub source: &'a Source,
    pub callback: Option<&'a Callback>,
    /// The content shown to people, unless it is read from `wire`.
    pub content: Option<&'a Content>,
    pub wire: String,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Submission {
    Created,
    /// The idempotency key was used before; the door compares the payloads.
    Duplicate(DuplicateOf),
    TooManyOpen,
}

/// The earlier message that was submitted under the same idempotency key.
#[derive(Debug, Clone, PartialEq)]
pub struct DuplicateOf {
    pub id: MessageId,
    pub status: Status,
    pub wire: String,
}

#[derive(Debug, Clone)]
pub enum ApplyOutcome {
    NotFound,
    Purged,
    Rejected(Rejection),
    Resolved(Box<ResolvedMessage>),
}

/// The result of a decision that its author may take back.
#[derive(Debug, Clone)]
pub enum HoldOutcome {
    /// The decision becomes the resolution when its hold ends.
    Held(Hold),
    /// Without an undo time, and for everything but an accepted decision.
    Applied(ApplyOutcome),
}

#[derive(Debug, Clone)]
pub enum TakeBackOutcome {
    NotFound,
    Purged,
    Rejected(Rejection),
    TakenBack {
        /// When the message, which is open again, expires.
        expires_at: Option<Timestamp>,
    },
    /// The hold had ended, so the decision was released instead.
    Released(Box<ResolvedMessage>),
}

#[derive(Debug, Clone)]
pub struct ResolvedMessage {
    pub resolution: Resolution,
    /// A person said no, as `Ending::is_no` has it.
    pub is_no: bool,
    /// The message as its agent sees it after this change.
    pub view: AgentView,
    /// The host of the push delivery that was enqueued, if any.
    pub push_host: Option<String>,
}

/// A message as the submitting agent sees it.
#[derive(Debug, Clone)]
pub struct AgentView {
    pub id: MessageId,
    pub agent_id: String,
    pub rev: i64,
    pub received_at: Timestamp,
    pub expires_at: Option<Timestamp>,
    pub state: State,
    pub source: Source,
    pub wire: String,
}

impl AgentView {
    pub fn changed_at(&self) -> Timestamp {
        match &self.state {
            State::Open | State::Delivered => self.received_at,
            State::Resolved(resolution) => resolution.resolved_at,
        }
    }
}

#[derive(Debug, Clone)]
pub enum Lookup<T> {
    Present(T),
    /// Retention has purged the content; the submitter still learns that the message existed.
    Purged {
        agent_id: String,
    },
}

/// A message as people see it, with its delivery status.
#[derive(Debug, Clone)]
pub struct PersonView {
    /// The position in the order of arrival.
    pub seq: i64,
    /// The display name of the agent.
    pub agent_name: String,
    pub message: Message,
    /// Lists of open messages leave out this field and the next one.
    pub delivery: Option<Delivery>,
    /// When the agent first fetched the resolution.
    pub fetched_at: Option<Timestamp>,
}

/// A message that cannot be decoded, as far as its row tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadableItem {
    pub error: Unreadable,
    pub seq: i64,
    pub rank: i64,
    /// The next two are empty if not even they can be read.
    pub agent_id: String,
    pub status: String,
    pub received_at: Timestamp,
}

/// One entry of a list. A damaged message is an entry of its own, so that it does not take its list with it.
pub type ListEntry = Result<PersonView, UnreadableItem>;

pub fn entry_seq(entry: &ListEntry) -> i64 {
    match entry {
        Ok(item) => item.seq,
        Err(unreadable) => unreadable.seq,
    }
}

/// A message that a person has snoozed.
#[derive(Debug, Clone)]
pub struct SnoozedItem {
    pub item: ListEntry,
    /// When the message returns to the inbox.
    pub until: Timestamp,
}

/// The numbers shown beside a person's lists.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CountsNow {
    /// Open asks and tasks that the person has not snoozed.
    pub open: i64,
    /// Open asks and tasks that the person has snoozed.
    pub snoozed: i64,
    /// Notifies that are not archived: at most 100, counted among the newest.
    pub notices: i64,
    /// Failed deliveries, at most 100.
    pub failing: i64,
}

/// How many open messages were found before the count was capped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OpenCount {
    pub counted: usize,
    pub has_more: bool,
}

impl fmt::Display for OpenCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.counted, if self.has_more { "+" } else { "" })
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Delivery {
    pub message_id: MessageId,
    pub agent_id: String,
    pub host: String,
    pub state: DeliveryState,
    pub attempts: u32,
    pub created_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_attempt_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivered_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
}

/// A delivery, claimed for one attempt.
#[derive(Debug, Clone)]
pub struct Claim {
    pub message_id: MessageId,
    pub agent_id: String,
    pub attempts: u32,
    pub created_at: Timestamp,
    /// The node that holds the lease, and the end of the lease.
    pub node: String,
    pub until: Timestamp,
}

/// The data needed for one push attempt.
#[derive(Debug, Clone)]
pub struct PushContext {
    pub view: AgentView,
    pub resolution: Resolution,
    pub callback: Callback,
    pub signature_alg: SignatureAlg,
    /// Newest first.
    pub signing_keys: Vec<String>,
    /// The registered secret that the callback names, if any.
    pub secret: Option<String>,
    pub host_approved: bool,
}

/// The result of an attempt for its delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Settlement {
    Delivered,
    Failed { reason: String },
    Retry { at: Timestamp, reason: String },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, serde::Deserialize)]
pub enum SignatureAlg {
    #[serde(rename = "hmac-sha256")]
    HmacSha256,
    #[serde(rename = "ed25519")]
    Ed25519,
}

impl SignatureAlg {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::HmacSha256 => "hmac-sha256",
            Self::Ed25519 => "ed25519",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        [Self::HmacSha256, Self::Ed25519]
            .into_iter()
            .find(|alg| alg.as_str() == text)
    }
}

#[derive(Debug, Clone, Serialize)]
pub struct AgentSummary {
    pub agent_id: String,
    /// The display name.
    pub name: String,
    pub signature_alg: SignatureAlg,
    pub created_at: Timestamp,
    pub tokens: i64,
    pub signing_keys: i64,
    pub open: i64,
    /// When the agent last called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seen_at: Option<Timestamp>,
}

#[derive(Debug, Clone, Serialize)]
pub struct PersonSummary {
    pub name: String,
    pub actor: String,
    pub role: Role,
    pub created_at: Timestamp,
    pub tokens: i64,
    pub sessions: i64,
    pub passkeys: i64,
    pub has_password: bool,
}

/// A credential as its owner sees it. The id is derived from the hash and reveals nothing about the token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CredentialSummary {
    pub id: String,
    pub label: String,
    pub created_at: Timestamp,
    pub expires_at: Option<Timestamp>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passkey {
    /// The credential id that the authenticator chose.
    pub id: Vec<u8>,
    pub person: String,
    pub name: String,
    /// The serialized credential, opaque to the store.
    pub body: String,
    pub created_at: Timestamp,
    pub used_at: Option<Timestamp>,
}

#[derive(Debug, Clone, Serialize)]
pub struct CallbackHost {
    pub agent_id: String,
    pub host: String,
    pub state: String,
    pub created_at: Timestamp,
}

#[derive(Debug, Clone, Serialize)]
pub struct SecretName {
    pub agent_id: String,
    pub name: String,
    pub created_at: Timestamp,
}

#[derive(Debug, Clone)]
pub struct HubKey {
    pub kid: String,
    pub seed: Vec<u8>,
    pub retires_at: Option<Timestamp>,
}

#[derive(Debug, Clone, Serialize)]
pub struct AuditRow {
    #[serde(rename = "seq")]
    pub n: i64,
    #[serde(flatten)]
    pub entry: countersign_core::audit::AuditRecord,
    pub hash: Digest,
}

/// A request to resolve a message, with the resolution id to use if it succeeds.
#[derive(Debug, Clone)]
pub struct ResolveRequest {
    pub message_id: MessageId,
    pub command: countersign_core::Command,
    pub resolution_id: ResolutionId,
    /// The bytes of the files named in the verdict, in the same order.
    pub files: Vec<Vec<u8>>,
}

/// The JSON text in which structured parts of a message are stored.
pub fn json_text(part: &impl Serialize) -> Result<String, crate::StoreError> {
    Ok(serde_json::to_string(part)?)
}
