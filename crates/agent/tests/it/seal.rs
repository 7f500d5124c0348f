//! Sealing with real keys and random nonces, and interoperability with Node.

use std::process::Command;

use countersign_agent::{Binding, SealError, SealKey, open, open_state, seal, sealed_state};
use countersign_protocol::a2h::TokenError;
use proptest::prelude::*;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::scratch::Scratch;

const OWNER: (&str, &str) = ("acme/deployer", "idem_1");

fn key() -> SealKey {
    SealKey::from_bytes([7; 32])
}

fn own() -> Binding<'static> {
    Binding::Own {
        agent_id: OWNER.0,
        idempotency_key: OWNER.1,
    }
}

#[test]
fn a_sealed_state_opens_again_with_every_binding() {
    let state = json!({"step": 3, "note": "é\u{0}", "list": [1.5, null, {"a": true}]});
    for (binding, owner, prefix) in [
        (Binding::A2h, None, "A2HSEALv1."),
        (Binding::Ma2h, None, "MA2HSEALv1."),
        (own(), Some(OWNER), "CSEALv2."),
    ] {
        let token = seal(&key(), &state, binding).unwrap();
        assert!(token.starts_with(prefix), "{token}");
        assert_eq!(open(&key(), &token, owner).unwrap(), state);
        assert_ne!(
            seal(&key(), &state, binding).unwrap(),
            token,
            "a nonce is never used twice"
        );
    }
}

#[test]
fn a_state_comes_back_through_an_envelope() {
    let token = seal(&key(), &json!({"pr": 7}), own()).unwrap();
    let mut state = sealed_state(&token);
    assert_eq!(state, json!({"sealed": token}));
    state["hint"] = json!("anybody can write here");
    let raw = RawValue::from_string(state.to_string()).unwrap();
    assert_eq!(open_state(&key(), &raw, Some(OWNER)).unwrap(), json!({"pr": 7}));
    for unsealed in ["{}", "[]", "null", r#"{"sealed":1}"#, r#"{"sealed":"a","sealed":"b"}"#] {
        let raw = RawValue::from_string(unsealed.to_owned()).unwrap();
        assert_eq!(open_state(&key(), &raw, None), Err(SealError::NotSealed), "{unsealed}");
    }
}

#[test]
fn a_token_of_another_message_or_key_is_refused() {
    let token = seal(&key(), &json!({"pr": 7}), own()).unwrap();
    let refused = |key: &SealKey, owner| open(key, &token, owner).unwrap_err();
    assert_eq!(
        refused(&key(), Some((OWNER.0, "idem_2"))),
        SealError::Token(TokenError::DoesNotOpen)
    );
    assert_eq!(
        refused(&SealKey::from_bytes([8; 32]), Some(OWNER)),
        SealError::Token(TokenError::DoesNotOpen)
    );
    assert_eq!(refused(&key(), None), SealError::Token(TokenError::NeedsOwner));
    let unbound = seal(&key(), &json!({"pr": 7}), Binding::A2h).unwrap();
    assert_eq!(
        open(&key(), &unbound, Some(OWNER)),
        Err(SealError::Token(TokenError::NotBound))
    );
}

#[test]
fn a_state_nested_too_deeply_is_not_sealed() {
    let deep = (0..200).fold(json!(1), |inner, _| json!([inner]));
    assert_eq!(seal(&key(), &deep, Binding::A2h), Err(SealError::TooDeep));
    let huge = json!("x".repeat(1024 * 1024));
    assert_eq!(
        seal(&key(), &huge, Binding::A2h),
        Err(SealError::Token(TokenError::TooLong))
    );
}

#[test]
fn a_key_is_read_in_its_three_spellings() {
    let scratch = Scratch::new();
    let file = scratch.file("seal.key");
    let bytes = [0xfb; 32];
    let token = seal(&SealKey::from_bytes(bytes), &json!(1), Binding::A2h).unwrap();
    let spellings = [
        "fb".repeat(32),
        "FB".repeat(32),
        "+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/s=".to_owned(),
        "-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_s".to_owned(),
    ];
    for spelling in spellings {
        std::fs::write(&file, format!("{spelling}\n")).unwrap();
        let key = SealKey::from_file(&file).unwrap();
        assert_eq!(open(&key, &token, None), Ok(json!(1)), "{spelling}");
        assert_eq!(format!("{key:?}"), "SealKey(…)");
    }
}

#[test]
fn an_invalid_key_is_refused_and_not_repeated_in_the_error() {
    let scratch = Scratch::new();
    let file = scratch.file("seal.key");
    for text in [
        "",
        "hunter2",
        &"f".repeat(63),
        &"g".repeat(64),
        &"A".repeat(42),
        &"A".repeat(45),
        &"é".repeat(32),
    ] {
        std::fs::write(&file, text).unwrap();
        let refused = SealKey::from_file(&file).unwrap_err();
        assert!(matches!(refused, SealError::BadKey { .. }), "{text}");
        assert!(text.is_empty() || !refused.to_string().contains(text));
    }
    std::fs::write(&file, [0xff; 32]).unwrap();
    assert!(matches!(SealKey::from_file(&file), Err(SealError::NoKey { .. })));
    assert!(matches!(
        SealKey::from_file(&scratch.file("none")),
        Err(SealError::NoKey { .. })
    ));
    let unset = SealKey::from_env("COUNTERSIGN_TEST_NO_SUCH_KEY")
        .unwrap_err()
        .to_string();
    assert!(unset.contains("COUNTERSIGN_TEST_NO_SUCH_KEY"), "{unset}");
    assert!(matches!(SealKey::from_env("PATH"), Err(SealError::BadKey { .. })));
}

#[test]
fn the_callback_secret_is_refused_as_a_seal_key() {
    let text = "0123456789abcdef0123456789abcdef";
    let key = SealKey::from_bytes(text.as_bytes().try_into().unwrap());
    let secret = countersign_protocol::webhooks::encode_secret(text.as_bytes());
    let base64 = secret.strip_prefix("whsec_").unwrap();
    for same in [text, secret.as_str(), base64, &format!("{base64}\n")] {
        assert_eq!(
            key.refuse_same_as(&["other", same]),
            Err(SealError::SameAsCallbackSecret),
            "{same}"
        );
    }
    assert_eq!(key.refuse_same_as(&["", "whsec_", "other"]), Ok(()));
    assert_eq!(key.refuse_same_as(&[]), Ok(()));
}

/// Node's crypto seals and opens like other implementations of the protocol.
fn node(script: &str, argument: &str) -> Option<String> {
    let output = match Command::new("node").args(["-e", script, argument]).output() {
        Ok(output) => output,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
        Err(error) => panic!("{error}"),
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap().trim().to_owned())
}

#[test]
fn node_opens_what_we_seal_and_we_open_what_node_seals() {
    let state = json!({"note": "é \u{1f600} \u{2028}", "n": [1.5, -0.001, 1e21], "deep": {"a": null}});
    let sealing = r#"const c=require("crypto"),iv=c.randomBytes(12),e=c.createCipheriv("aes-256-gcm",Buffer.alloc(32,7),iv);
        const ct=Buffer.concat([e.update(JSON.stringify(JSON.parse(process.argv[1])),"utf8"),e.final()]);
        console.log(["MA2HSEALv1",...[iv,ct,e.getAuthTag()].map(b=>b.toString("base64url"))].join("."))"#;
    let Some(token) = node(sealing, &state.to_string()) else {
        return;
    };
    assert_eq!(open(&key(), &token, None), Ok(state.clone()));
    let opening = r#"const c=require("crypto"),[p,iv,ct,tag]=process.argv[1].split(".").map(b=>Buffer.from(b,"base64url"));
        const d=c.createDecipheriv("aes-256-gcm",Buffer.alloc(32,7),iv);d.setAuthTag(tag);
        if(process.argv[1].startsWith("CSEALv2"))d.setAAD(Buffer.from(JSON.stringify(["acme/deployer","idem_1"])));
        console.log(Buffer.concat([d.update(ct),d.final()]).toString("utf8"))"#;
    for binding in [Binding::A2h, own()] {
        let opened = node(opening, &seal(&key(), &state, binding).unwrap()).unwrap();
        assert_eq!(opened.parse::<Value>().unwrap(), state);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

    #[test]
    fn any_token_is_refused_and_nothing_panics(
        token in prop_oneof![".*", "(A2HSEALv1|MA2HSEALv1|CSEALv2)\\.[A-Za-z0-9_-]{16}\\.[A-Za-z0-9_-]{0,40}\\.[A-Za-z0-9_-]{22}"],
        owner in any::<bool>(),
    ) {
        prop_assert!(open(&key(), &token, owner.then_some(OWNER)).is_err());
    }
}
