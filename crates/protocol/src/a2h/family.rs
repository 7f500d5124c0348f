//! The two names of the protocol, their versions, and the push signature of each version.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::envelope::EnvelopeError;
use super::wire_enum::wire_enum;

wire_enum!(
    /// A2H and MA2H are one protocol under two names; a response uses the name of its request.
    Family { A2h = "a2h", Ma2h = "ma2h" }
);

impl Family {
    pub const ALL: [Self; 2] = [Self::A2h, Self::Ma2h];

    pub const fn name(self) -> &'static str {
        self.as_str()
    }

    pub const fn version_key(self) -> &'static str {
        match self {
            Self::A2h => "a2h_version",
            Self::Ma2h => "ma2h_version",
        }
    }

    pub const fn signature_header(self) -> &'static str {
        match self {
            Self::A2h => "A2H-Signature",
            Self::Ma2h => "MA2H-Signature",
        }
    }

    /// The newest version of this family that the hub supports, as published in its capability document.
    pub const fn newest(self) -> Version {
        match self {
            Self::A2h => Version { family: self, minor: 3 },
            Self::Ma2h => Version { family: self, minor: 6 },
        }
    }
}

/// How a pushed response is signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PushSigning {
    /// Nine keys: actor, address and time, but not the answer itself.
    Context,
    /// Ten keys: the same plus a digest of the answer.
    Payload,
}

/// A version of one family; the major is always 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Version {
    pub family: Family,
    pub minor: u32,
}

impl Version {
    /// Such as `0.3`. Equal to the text the agent sent, because only canonical numbers are accepted.
    pub fn text(self) -> String {
        self.to_string()
    }

    pub fn push_signing(&self) -> Option<PushSigning> {
        match (self.family, self.minor) {
            (Family::A2h | Family::Ma2h, 3..) => Some(PushSigning::Payload),
            (Family::A2h, 2) => Some(PushSigning::Context),
            (Family::A2h, 0 | 1) | (Family::Ma2h, 0..=2) => None,
        }
    }

    /// The envelope must have exactly one version key, which determines the family.
    pub fn from_envelope(envelope: &Map<String, Value>) -> Result<Self, EnvelopeError> {
        let (family, value) = match (envelope.get("a2h_version"), envelope.get("ma2h_version")) {
            (Some(value), None) => (Family::A2h, value),
            (None, Some(value)) => (Family::Ma2h, value),
            (Some(_), Some(_)) => {
                let message = "must not be combined with `a2h_version`: send only the one your agent uses";
                return Err(EnvelopeError::invalid("ma2h_version", message));
            }
            (None, None) => {
                let message = "is missing: send `a2h_version` or `ma2h_version`, such as \"0.3\"";
                return Err(EnvelopeError::invalid("a2h_version", message));
            }
        };
        match value.as_str() {
            Some(text) => Self::parse(family, text),
            None => Err(EnvelopeError::invalid(
                family.version_key(),
                "must be a string such as \"0.3\"",
            )),
        }
    }

    pub fn parse(family: Family, text: &str) -> Result<Self, EnvelopeError> {
        let parts = text
            .split_once('.')
            .filter(|(major, minor)| is_canonical(major) && is_canonical(minor));
        let Some((major, minor)) = parts else {
            return Err(EnvelopeError::invalid(
                family.version_key(),
                "must be MAJOR.MINOR such as \"0.3\"",
            ));
        };
        match (major, minor.parse()) {
            ("0", Ok(minor)) => Ok(Self { family, minor }),
            _ => Err(EnvelopeError::VersionNotSupported {
                message: format!(
                    "this hub does not support that version of {}: send \"{}\"",
                    family.name(),
                    family.newest().text()
                ),
            }),
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "0.{}", self.minor)
    }
}

/// Decimal digits without leading zeros.
fn is_canonical(number: &str) -> bool {
    let all_digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    all_digits && (number == "0" || !number.starts_with('0'))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(envelope: Value) -> Result<Version, EnvelopeError> {
        Version::from_envelope(envelope.as_object().unwrap())
    }

    #[test]
    fn the_version_key_names_the_family() {
        assert_eq!(
            read(json!({"a2h_version": "0.2"})),
            Ok(Version {
                family: Family::A2h,
                minor: 2
            })
        );
        assert_eq!(
            read(json!({"ma2h_version": "0.12"})),
            Ok(Version {
                family: Family::Ma2h,
                minor: 12
            })
        );
        assert!(matches!(read(json!({})), Err(EnvelopeError::Invalid { .. })));
        assert!(matches!(
            read(json!({"ahcp_version": "0.3"})),
            Err(EnvelopeError::Invalid { .. })
        ));
        let both = read(json!({"a2h_version": "0.3", "ma2h_version": "0.3"}));
        assert!(matches!(both, Err(EnvelopeError::Invalid { .. })));
    }

    #[test]
    fn another_major_is_not_supported_and_a_malformed_version_is_invalid() {
        for text in ["1.0", "2.3", "10.0", "0.99999999999999999999"] {
            let refused = read(json!({"a2h_version": text}));
            assert!(
                matches!(refused, Err(EnvelopeError::VersionNotSupported { .. })),
                "{text}"
            );
        }
        for text in [
            "0.03", "00.2", "0.3.1", "", ".", "0.", ".3", "0", "+0.3", "0.-3", " 0.3", "1.00", "01.0", "0.٣",
        ] {
            let refused = read(json!({"a2h_version": text}));
            assert!(matches!(refused, Err(EnvelopeError::Invalid { .. })), "{text}");
        }
        for value in [json!(0.3), json!(null), json!(["0.3"])] {
            assert!(matches!(
                read(json!({"a2h_version": value})),
                Err(EnvelopeError::Invalid { .. })
            ));
        }
    }

    #[test]
    fn the_answer_is_signed_from_minor_three_on() {
        let signing = |family, minor| Version { family, minor }.push_signing();
        assert_eq!(signing(Family::A2h, 1), None);
        assert_eq!(signing(Family::A2h, 2), Some(PushSigning::Context));
        assert_eq!(signing(Family::Ma2h, 2), None);
        for family in Family::ALL {
            assert_eq!(signing(family, 3), Some(PushSigning::Payload));
            assert_eq!(signing(family, 9), Some(PushSigning::Payload));
        }
    }
}
