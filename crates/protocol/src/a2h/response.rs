//! The response envelope for the agent, the same text for pull and push.

use serde::{Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::family::Version;
use super::request::CheckItem;
use crate::id::{MessageId, ResolutionId};
use crate::time::Timestamp;

#[derive(Debug, Clone, Serialize)]
pub struct Response<'a> {
    #[serde(flatten, serialize_with = "version_entry")]
    pub version: Version,
    pub in_reply_to: &'a MessageId,
    pub resolution_id: &'a ResolutionId,
    pub agent: ResponseAgent<'a>,
    pub resolution: &'a str,
    pub defaulted: bool,
    pub response: &'a ResponseBody<'a>,
    /// The original text: parsing and serializing it again would change its key order and number spelling.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<&'a RawValue>,
}

#[derive(Debug, Clone, Copy, Serialize)]
pub struct ResponseAgent<'a> {
    pub id: &'a str,
    pub run_id: &'a str,
}

/// The inner `response` object: actor, time, and the answer if any. Present also for an expiry without a default, because
/// the signature needs its `resolved_at`.
#[derive(Debug, Clone, Serialize)]
pub struct ResponseBody<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<&'a Value>,
    /// Only for an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edited: Option<bool>,
    pub actor: &'a str,
    pub resolved_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comment: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checklist: Option<&'a [CheckItem]>,
}

/// The key of a version depends on its family.
fn version_entry<S: Serializer>(version: &Version, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map([(version.family.version_key(), version.text())])
}
