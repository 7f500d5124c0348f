//! Property tests: pushes made of arbitrary bytes.

use countersign_agent::{Timestamp, Verifier};
use http::{HeaderMap, HeaderValue};
use proptest::prelude::*;
use serde_json::Value;

use crate::signed::{KEY, NOW, T, URL, hmac, response};

const JTI: &str = "jti_01HZX7Q9Z3DEMOFIX";

fn verifier() -> Verifier {
    Verifier::new(URL).hmac_key(KEY)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

    #[test]
    fn any_header_and_body_are_refused_and_nothing_panics(
        header in prop_oneof![any::<Vec<u8>>(), "t=[0-9]{1,20},jti=[a-z]{1,9},v1=[A-Za-z0-9_=-]{40,90}".prop_map(String::into_bytes)],
        body in prop_oneof![any::<Vec<u8>>(), Just(response("a2h_version", "0.3").to_string().into_bytes())],
        now in any::<i64>(),
    ) {
        let mut headers = HeaderMap::new();
        if let Ok(value) = HeaderValue::from_bytes(&header) {
            headers.insert("A2H-Signature", value);
        }
        prop_assert!(verifier().verify(&headers, &body, Timestamp::from_millis(now)).is_err());
    }

    #[test]
    fn one_changed_byte_of_the_body_never_changes_the_verified_outcome(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let honest = response("a2h_version", "0.3");
        let headers = hmac(&honest, T, JTI, &[KEY]);
        let mut body = honest.to_string().into_bytes();
        let at = at.index(body.len());
        body[at] = byte;
        if let Ok(verified) = verifier().verify(&headers, &body, NOW) {
            // `agent` and `defaulted` are not signed, and are not read either.
            let believed = verifier().verify(&headers, honest.to_string().as_bytes(), NOW).unwrap();
            prop_assert_eq!(verified.resolved.outcome, believed.resolved.outcome);
            prop_assert_eq!(verified.resolved.actor, believed.resolved.actor);
            prop_assert_eq!(verified.resolved.message_id, believed.resolved.message_id);
            prop_assert_eq!(verified.resolved.resolution_id, believed.resolved.resolution_id);
            prop_assert_eq!(
                verified.resolved.state.unwrap().get().parse::<Value>().unwrap(),
                believed.resolved.state.unwrap().get().parse::<Value>().unwrap()
            );
        }
    }
}
