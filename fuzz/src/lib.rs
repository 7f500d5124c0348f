//! Properties that must hold for any untrusted bytes. The fuzz targets call these functions, and so does a test of the
//! protocol crate, with random bytes of its own.

use countersign_protocol::a2h::{Envelope, SealToken, SealedFor, SignatureHeader, payload_hash};
use countersign_protocol::runs::strategy::{self, StrategyFormat};
use countersign_protocol::{hap, jcs, json, runs};

/// An envelope is parsed or refused, and the raw text agrees with the parsed value.
pub fn envelope(bytes: &[u8]) {
    let Ok(value) = json::parse(bytes) else { return };
    let hash = payload_hash(&value);
    assert_eq!(hash, payload_hash(&value.clone()));
    let text = std::str::from_utf8(bytes).expect("only UTF-8 is read");
    if let Some(object) = value.as_object() {
        let state = json::raw_field(text, "state").expect("an object was read");
        let state = state.map(|raw| json::parse(raw.get().as_bytes()).expect("a field of what was read"));
        assert_eq!(state.as_ref(), object.get("state"));
        let rest = json::without_fields(text, &["state"]).expect("an object was read");
        let mut expected = object.clone();
        expected.remove("state");
        assert_eq!(
            json::parse(rest.as_bytes())
                .expect("an object without a field")
                .as_object(),
            Some(&expected)
        );
    }
    if let Err(error) = Envelope::from_value(value) {
        assert!(!error.to_string().is_empty());
    }
}

/// The canonical form parses, and canonicalizing it again changes nothing.
pub fn jcs(bytes: &[u8]) {
    let Ok(value) = json::parse(bytes) else { return };
    let canonical = jcs::canonical(&value);
    let again = json::parse(canonical.as_bytes()).expect("the canonical form is JSON");
    assert_eq!(jcs::canonical(&again), canonical);
}

/// A header is refused, or it round-trips.
pub fn signature_header(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(header) = SignatureHeader::parse(text) else {
        return;
    };
    assert_eq!(SignatureHeader::parse(&header.to_header()), Ok(header));
}

/// A sealed token is refused, or it round-trips to the same text; without its key it never opens.
pub fn seal_token(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(token) = SealToken::parse(text) else { return };
    assert_eq!(token.to_string(), text);
    assert!(token.open(&[0; 32], None).is_err());
    assert!(
        token
            .open(
                &[0; 32],
                Some(SealedFor {
                    agent_id: "a",
                    idempotency_key: "k"
                })
            )
            .is_err()
    );
}

/// A client message of the run socket is refused, or it round-trips.
pub fn run_message(bytes: &[u8]) {
    match runs::read(bytes) {
        Ok(received) => {
            let frame = received.message.frame(received.request_id.as_deref());
            assert_eq!(runs::read(frame.as_bytes()), Ok(received));
        }
        Err(refused) => {
            let is_not_offered = refused.code == "NOT_OFFERED";
            assert!(refused.message.starts_with("Invalid ") != is_not_offered);
            assert!(!is_not_offered || refused.message.contains(" is not offered by this hub: "));
        }
    }
}

/// A strategy file is parsed or refused in every format; a valid JSON file is also valid JSONC.
pub fn strategy_file(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    for format in [StrategyFormat::Json, StrategyFormat::Jsonc, StrategyFormat::Yaml] {
        match strategy::read(text, format) {
            Ok(read) => assert!(read.agents.len() <= 200 && !read.flow.steps.is_empty()),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
    if let Ok(strict) = strategy::read(text, StrategyFormat::Json) {
        assert_eq!(strategy::read(text, StrategyFormat::Jsonc), Ok(strict));
    }
}

/// Text of a terminal agent is an envelope or refused. An envelope has a prompt, and an unknown payload has a reason
/// that can be shown to a person.
pub fn hap_envelope(bytes: &[u8]) {
    let Ok(text) = hap::decode(bytes) else { return };
    for kind in [hap::CueKind::Cue, hap::CueKind::Pause] {
        match hap::CueEnvelope::parse(kind, &text) {
            Ok(envelope) => {
                assert!(!envelope.prompt.trim().is_empty());
                assert!(kind == hap::CueKind::Cue || envelope.payload.is_none());
                if let Some(hap::CuePayload::Unknown { reason }) = envelope.payload.as_ref().map(hap::CuePayload::read)
                {
                    assert!(!reason.is_empty());
                }
            }
            Err(error) => assert!(error.to_string().starts_with("error: ")),
        }
    }
}
