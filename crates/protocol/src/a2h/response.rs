//! The response envelope for the agent, and the payload digest that its signature covers.

use aws_lc_rs::digest;
use serde_json::{Value, json};

use super::family::Version;
use crate::id::{MessageId, ResolutionId};
use crate::jcs;

#[derive(Debug, Clone, Copy)]
pub struct Response<'a> {
    pub version: Version,
    pub in_reply_to: &'a MessageId,
    pub resolution_id: &'a ResolutionId,
    pub agent_id: &'a str,
    pub run_id: &'a str,
    pub resolution: &'a str,
    pub defaulted: bool,
    /// The inner object: actor, time, and the answer if any.
    pub response: &'a Value,
    /// The JSON text the agent submitted.
    pub state: Option<&'a str>,
}

impl Response<'_> {
    /// The envelope as JSON text. The state is inserted as the original text: parsing and serializing it again would
    /// change its key order and number spelling.
    pub fn to_json(&self) -> String {
        let mut text = format!(
            r#"{{"{}":"{}","in_reply_to":"{}","resolution_id":"{}","agent":{},"resolution":{},"defaulted":{},"response":{}"#,
            self.version.family.version_key(),
            self.version,
            self.in_reply_to,
            self.resolution_id,
            json!({"id": self.agent_id, "run_id": self.run_id}),
            json!(self.resolution),
            self.defaulted,
            self.response,
        );
        if let Some(state) = self.state {
            text.push_str(",\"state\":");
            text.push_str(state);
        }
        text.push('}');
        text
    }
}

/// The digest of the answer and the state, as lower-case hex. Absent values count as null.
pub fn payload_sha256(response: Option<&Value>, state: Option<&Value>) -> String {
    let mut canonical = Vec::with_capacity(512);
    canonical.extend_from_slice(b"{\"response\":");
    jcs::write(response.unwrap_or(&Value::Null), &mut canonical);
    canonical.extend_from_slice(b",\"state\":");
    jcs::write(state.unwrap_or(&Value::Null), &mut canonical);
    canonical.push(b'}');
    hex(digest::digest(&digest::SHA256, &canonical).as_ref())
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}
