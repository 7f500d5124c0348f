use std::fmt;

use http::HeaderValue;
use uuid::Uuid;

const MAX_GIVEN_BYTES: usize = 64;

/// Names one request in its reply, in error bodies and in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestId {
    Own(Uuid),
    /// Chosen by a trusted proxy.
    Given(Box<str>),
}

impl RequestId {
    pub fn new() -> Self {
        Self::Own(Uuid::new_v4())
    }

    /// `None` for text that could break out of a log line or fill it.
    pub fn given(text: &[u8]) -> Option<Self> {
        let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.:=+/".contains(byte);
        let is_id = (1..=MAX_GIVEN_BYTES).contains(&text.len()) && text.iter().all(is_plain);
        let text = is_id.then(|| std::str::from_utf8(text).ok())??;
        Some(Self::Given(text.into()))
    }

    /// `None` cannot happen, because both kinds are plain ASCII.
    pub(super) fn header(&self) -> Option<HeaderValue> {
        match self {
            Self::Own(id) => HeaderValue::from_str(id.hyphenated().encode_lower(&mut Uuid::encode_buffer())).ok(),
            Self::Given(text) => HeaderValue::from_str(text).ok(),
        }
    }
}

impl Default for RequestId {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Own(id) => id.fmt(f),
            Self::Given(text) => f.write_str(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_short_plain_ids_are_taken_over() {
        let longest = "a".repeat(MAX_GIVEN_BYTES);
        for text in ["7", "Root=1-67891233-abcdef", "a/b+c==", "0af7:651.x_y", &longest] {
            let id = RequestId::given(text.as_bytes()).unwrap();
            assert_eq!(id.to_string(), text);
            assert_eq!(id.header().unwrap(), text);
        }
        let too_long = "a".repeat(MAX_GIVEN_BYTES + 1);
        for text in ["", " ", "a b", "a\"b", "a\\b", "<b>", "a\tb", "ü", &too_long] {
            assert_eq!(RequestId::given(text.as_bytes()), None, "{text}");
        }
        assert_eq!(RequestId::given(&[b'a', 0xff]), None);
    }

    #[test]
    fn own_id_is_the_same_text_everywhere() {
        let id = RequestId::new();
        assert_eq!(id.header().unwrap(), id.to_string());
        assert_ne!(id, RequestId::new());
    }
}
