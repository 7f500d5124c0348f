//! Ids: a type prefix, then 128 bits as 26 lower-case Crockford base32 digits.
//!
//! Message ids contain a UUIDv7, so that they sort by time and inserts go to the end of an index. Resolution ids and
//! jtis are fully random, so that they cannot be guessed.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use uuid::Uuid;

const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const LENGTH: usize = 26;

fn encode(prefix: &str, bits: u128) -> String {
    let digit = |position: usize| char::from(DIGITS[((bits >> (position * 5)) & 31) as usize]);
    prefix.chars().chain((0..LENGTH).rev().map(digit)).collect()
}

fn is_id(prefix: &str, text: &str) -> bool {
    let Some(digits) = text.strip_prefix(prefix) else {
        return false;
    };
    digits.len() == LENGTH && digits.bytes().all(|digit| DIGITS.contains(&digit))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a {0} id")]
pub struct IdError(&'static str);

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            pub const PREFIX: &'static str = $prefix;

            pub fn from_uuid(uuid: Uuid) -> Self {
                Self(encode(Self::PREFIX, uuid.as_u128()))
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                if is_id(Self::PREFIX, text) { Ok(Self(text.to_owned())) } else { Err(IdError(Self::PREFIX)) }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
            }
        }
    };
}

id!(
    /// A message; sorted by time.
    MessageId, "msg_"
);
id!(
    /// The terminal outcome of a message; random.
    ResolutionId, "res_"
);
id!(
    /// One delivery attempt; random.
    Jti, "jti_"
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_sort_like_their_bits() {
        let earlier = MessageId::from_uuid(Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0000));
        let later = MessageId::from_uuid(Uuid::from_u128(0x0190_0000_0001_7000_8000_0000_0000_0000));
        assert!(earlier < later);
        assert_eq!(earlier.as_str().len(), 30);
    }

    #[test]
    fn only_well_formed_ids_parse() {
        let id = MessageId::from_uuid(Uuid::from_u128(u128::MAX));
        assert_eq!(id.as_str().parse(), Ok(id.clone()));
        assert!("msg_".parse::<MessageId>().is_err());
        assert!("msg_../../etc/passwd".parse::<MessageId>().is_err());
        assert!(id.as_str().replace("msg_", "res_").parse::<MessageId>().is_err());
    }
}
