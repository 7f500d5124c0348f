//! What must hold for any bytes a stranger sends. The fuzzer calls these, and so does an ordinary test of the protocol
//! crate, with bytes it draws itself.

use countersign_protocol::a2h::{Envelope, SealToken, SealedFor, SignatureHeader, payload_hash};
use countersign_protocol::{jcs, json};

/// An envelope is read or refused, and the text agrees with what was read from it.
pub fn envelope(bytes: &[u8]) {
    let Ok(value) = json::parse(bytes) else { return };
    let hash = payload_hash(&value);
    assert_eq!(hash, payload_hash(&value.clone()));
    let text = std::str::from_utf8(bytes).expect("only UTF-8 is read");
    if let Some(object) = value.as_object() {
        let state = json::raw_field(text, "state").expect("an object was read");
        let state = state.map(|text| json::parse(text.as_bytes()).expect("a field of what was read"));
        assert_eq!(state.as_ref(), object.get("state"));
        let rest = json::without_fields(text, &["state"]).expect("an object was read");
        let mut expected = object.clone();
        expected.remove("state");
        assert_eq!(json::parse(rest.as_bytes()).expect("an object without a field").as_object(), Some(&expected));
    }
    if let Err(error) = Envelope::from_value(value) {
        assert!(!error.to_string().is_empty());
    }
}

/// The canonical form reads back, and is its own canonical form.
pub fn jcs(bytes: &[u8]) {
    let Ok(value) = json::parse(bytes) else { return };
    let canonical = jcs::canonical(&value);
    let again = json::parse(canonical.as_bytes()).expect("the canonical form is JSON");
    assert_eq!(jcs::canonical(&again), canonical);
}

/// A header is refused, or written again and read as the same.
pub fn signature_header(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(header) = SignatureHeader::parse(text) else { return };
    assert_eq!(SignatureHeader::parse(&header.to_header()), Ok(header));
}

/// A sealed token is refused, or written again as the very same text; without its key it never opens.
pub fn seal_token(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(token) = SealToken::parse(text) else { return };
    assert_eq!(token.to_string(), text);
    assert!(token.open(&[0; 32], None).is_err());
    assert!(token.open(&[0; 32], Some(SealedFor { agent_id: "a", idempotency_key: "k" })).is_err());
}
