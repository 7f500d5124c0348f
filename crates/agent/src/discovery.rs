//! Discovery: the protocol version and public keys that a hub publishes under `/.well-known`.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_protocol::a2h::{Family, Version};
use countersign_protocol::json;
use serde_json::Value;

use crate::client::{Client, HubCall};
use crate::error::Error;

/// Long enough for a hub that restarts, short enough to report a wrong address soon.
const GIVE_UP_AFTER: Duration = Duration::from_secs(5);
const MAX_KEYS: usize = 64;
const KEY_BYTES: usize = 32;

impl Client {
    /// The newest protocol version that both sides support; fetched once.
    pub async fn version(&self) -> Result<Version, Error> {
        self.version_cell()
            .get_or_try_init(|| async { self.discover().await.map(|(version, _)| version) })
            .await
            .copied()
    }

    /// The hub's Ed25519 signing keys. Fetched every time, because keys rotate while agents run.
    pub async fn public_keys(&self) -> Result<Vec<Vec<u8>>, Error> {
        let (_, document) = self.discover().await?;
        public_keys(&document)
    }

    /// Tries both names of the protocol, because a hub may support only one.
    async fn discover(&self) -> Result<(Version, Value), Error> {
        let mut last = Error::unexpected("it publishes no description under `/.well-known`");
        for family in Family::ALL {
            let call = HubCall::get(self.address(&[".well-known", family.name()]));
            let reply = self
                .call_with_retry(&call, GIVE_UP_AFTER.min(self.give_up_after()))
                .await?;
            let read = match reply.status {
                200 => read(family, &reply.body),
                status => Err(Error::refused(status, &reply.body)),
            };
            match read {
                Ok(found) => return Ok(found),
                Err(error) => last = error,
            }
        }
        Err(last)
    }
}

fn read(family: Family, body: &[u8]) -> Result<(Version, Value), Error> {
    let document = json::parse(body).map_err(|error| Error::unexpected(format!("its description: {error}")))?;
    let text = document.get(family.version_key()).and_then(Value::as_str);
    let text = text.ok_or_else(|| Error::unexpected(format!("its description has no `{}`", family.version_key())))?;
    let offered = Version::parse(family, text)
        .map_err(|_| Error::unexpected("a protocol version that this agent does not support"))?;
    Ok((
        Version {
            minor: offered.minor.min(family.newest().minor),
            ..offered
        },
        document,
    ))
}

/// Keys of other algorithms are skipped: a hub may have them for other agents.
fn public_keys(document: &Value) -> Result<Vec<Vec<u8>>, Error> {
    let keys = match document.get("signature_keys") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(keys)) if keys.len() <= MAX_KEYS => keys,
        Some(_) => {
            return Err(Error::unexpected(format!(
                "`signature_keys` is not a list of at most {MAX_KEYS} keys"
            )));
        }
    };
    let known = keys
        .iter()
        .filter(|key| key.get("alg").and_then(Value::as_str) == Some("ed25519"));
    let decode = |key: &Value| {
        let text = key.get("public_key").and_then(Value::as_str)?;
        URL_SAFE_NO_PAD
            .decode(text.trim_end_matches('='))
            .ok()
            .filter(|bytes| bytes.len() == KEY_BYTES)
    };
    let decoded: Option<Vec<Vec<u8>>> = known.map(decode).collect();
    decoded.ok_or_else(|| Error::unexpected("an Ed25519 key in `signature_keys` that is not 32 bytes of base64url"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn version(family: Family, document: Value) -> Result<Version, Error> {
        read(family, document.to_string().as_bytes()).map(|(version, _)| version)
    }

    #[test]
    fn the_newest_version_of_both_sides_is_used() {
        let a2h = |text: &str| version(Family::A2h, json!({"a2h_version": text})).unwrap().minor;
        assert_eq!((a2h("0.2"), a2h("0.3"), a2h("0.12")), (2, 3, 3));
        assert_eq!(version(Family::Ma2h, json!({"ma2h_version": "0.5"})).unwrap().minor, 5);
        for document in [
            json!({}),
            json!({"ma2h_version": "0.3"}),
            json!({"a2h_version": 0.3}),
            json!([]),
        ] {
            assert!(matches!(
                version(Family::A2h, document),
                Err(Error::UnexpectedResponse(_))
            ));
        }
        assert!(matches!(
            version(Family::A2h, json!({"a2h_version": "1.0"})),
            Err(Error::UnexpectedResponse(_))
        ));
    }

    #[test]
    fn keys_of_other_algorithms_are_skipped() {
        let key = URL_SAFE_NO_PAD.encode([7; KEY_BYTES]);
        let document = json!({"signature_keys": [
            {"kid": "1", "alg": "ed25519", "public_key": key},
            {"kid": "2", "alg": "ml-dsa", "public_key": "?"},
        ]});
        assert_eq!(public_keys(&document).unwrap(), [vec![7; KEY_BYTES]]);
        assert!(public_keys(&json!({})).unwrap().is_empty());
        for wrong in [
            json!("AAAA"),
            json!([{"alg": "ed25519", "public_key": "AAAA"}]),
            json!([{"alg": "ed25519"}]),
        ] {
            assert!(matches!(
                public_keys(&json!({"signature_keys": wrong})),
                Err(Error::UnexpectedResponse(_))
            ));
        }
    }
}
