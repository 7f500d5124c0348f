//! The capability document: the limits and features of a hub, published for agents.

use serde::Serialize;
use serde_json::{Value, json};

use super::family::Family;

/// Optional parts of later MA2H versions that this hub does not have.
const LEGS_NOT_OFFERED: [&str; 5] = ["inbound", "ack", "presence", "sessions", "inter_agent"];

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Capability {
    pub max_body_bytes: u64,
    pub max_part_bytes: u64,
    pub max_context_parts: u64,
    pub max_request_bytes: u64,
    pub max_state_bytes: u64,
    pub auth_schemes: Vec<&'static str>,
    pub callback_auth_schemes: Vec<&'static str>,
    pub signature_algs: Vec<&'static str>,
    /// Omitted when there are no limits.
    #[serde(skip_serializing_if = "CapabilityRateLimit::is_none")]
    pub rate_limit: CapabilityRateLimit,
    pub retention_days: u64,
    pub replay_window_seconds: u64,
    pub callback_retry: CallbackRetry,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub signature_keys: Vec<SignatureKey>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct CapabilityRateLimit {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests_per_minute: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inbox_depth: Option<u64>,
}

impl CapabilityRateLimit {
    fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct CallbackRetry {
    pub max_attempts: u64,
    pub max_duration_seconds: u64,
}

/// A public key of the hub, for agents that verify with Ed25519.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SignatureKey {
    pub kid: String,
    pub alg: &'static str,
    /// The 32 bytes, base64url without padding.
    pub public_key: String,
}

impl Capability {
    pub fn to_value(&self, family: Family) -> Value {
        let mut document = json!(self);
        document[family.version_key()] = json!(family.newest().text());
        if family == Family::Ma2h {
            for leg in LEGS_NOT_OFFERED {
                document[leg] = json!({"enabled": false});
            }
        }
        document
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capability() -> Capability {
        Capability {
            max_body_bytes: 65_536,
            max_part_bytes: 262_144,
            max_context_parts: 16,
            max_request_bytes: 1_048_576,
            max_state_bytes: 262_144,
            auth_schemes: vec!["bearer", "apikey"],
            callback_auth_schemes: vec!["hmac", "bearer", "apikey"],
            signature_algs: vec!["hmac-sha256", "ed25519"],
            rate_limit: CapabilityRateLimit {
                requests_per_minute: Some(60),
                inbox_depth: None,
            },
            retention_days: 30,
            replay_window_seconds: 120,
            callback_retry: CallbackRetry {
                max_attempts: 8,
                max_duration_seconds: 86_400,
            },
            signature_keys: vec![SignatureKey {
                kid: "k1".into(),
                alg: "ed25519",
                public_key: "AA".into(),
            }],
        }
    }

    #[test]
    fn each_family_reads_its_own_version() {
        let a2h = capability().to_value(Family::A2h);
        let ma2h = capability().to_value(Family::Ma2h);
        assert_eq!((&a2h["a2h_version"], a2h.get("ma2h_version")), (&json!("0.3"), None));
        assert_eq!((&ma2h["ma2h_version"], ma2h.get("a2h_version")), (&json!("0.6"), None));
        assert_eq!(ma2h["sessions"], json!({"enabled": false}));
        assert_eq!(
            (ma2h["inter_agent"]["enabled"].as_bool(), a2h.get("inter_agent")),
            (Some(false), None)
        );
        assert_eq!(
            a2h["callback_retry"],
            json!({"max_attempts": 8, "max_duration_seconds": 86_400})
        );
        assert_eq!(
            a2h["signature_keys"],
            json!([{"kid": "k1", "alg": "ed25519", "public_key": "AA"}])
        );
    }

    #[test]
    fn absent_limits_are_not_serialized() {
        let mut open = capability();
        assert_eq!(
            open.to_value(Family::A2h)["rate_limit"],
            json!({"requests_per_minute": 60})
        );
        open.rate_limit = CapabilityRateLimit::default();
        open.signature_keys.clear();
        let document = open.to_value(Family::A2h);
        assert_eq!(
            (document.get("rate_limit"), document.get("signature_keys")),
            (None, None)
        );
    }
}
