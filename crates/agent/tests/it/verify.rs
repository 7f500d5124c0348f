//! Verification of pushes, and the reasons for refusal.

use std::time::Duration;

use countersign_agent::{Answer, Outcome, Refusal, Timestamp, Verified, Verifier, verify};
use countersign_protocol::a2h::Family;
use countersign_protocol::a2h::signature::{ed25519_from_seed, ed25519_public_key};
use http::{HeaderMap, HeaderValue};
use serde_json::{Value, json};

use crate::signed::{KEY, NOW, T, URL, ed25519, hmac, named, response};

const JTI: &str = "jti_01HZX7Q9Z3DEMOFIX";

fn verifier() -> Verifier {
    Verifier::new(URL).hmac_key(KEY)
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(seconds * 1000)
}

fn check(verifier: &Verifier, headers: &HeaderMap, response: &Value) -> Result<Verified, Refusal> {
    verify(verifier, headers, response.to_string().as_bytes(), NOW)
}

#[test]
fn a_genuine_push_is_read() {
    for (key, version) in [("a2h_version", "0.3"), ("ma2h_version", "0.3"), ("ma2h_version", "0.6")] {
        let response = response(key, version);
        let verified = check(&verifier(), &hmac(&response, T, JTI, &[KEY]), &response).unwrap();
        assert_eq!(verified.resolved.act_key(), ("msg_01HZXASK0001", "res_01HZXR3SOLVE"));
        let value = Answer::Choice("approve".to_owned());
        assert_eq!(verified.resolved.outcome, Outcome::Answered { value, edited: false });
        assert_eq!((verified.jti.as_str(), verified.signed_until), (JTI, at(T + 120)));
        assert!(verified.answer_signed);
    }
}

#[test]
fn the_published_signature_of_version_0_2_is_accepted() {
    let response = response("a2h_version", "0.2");
    let v1 = "IbLbIhbpTXUH9_MQvsvsBilbYcAw7Q2YVe3x6QXTcUY".to_owned();
    let headers = named(Family::A2h, T, JTI, &[v1]);
    let verified = check(&verifier().taking_unsigned_answers(), &headers, &response).unwrap();
    assert!(!verified.answer_signed);
    assert_eq!(
        check(&verifier(), &headers, &response).unwrap_err(),
        Refusal::AnswerNotSigned
    );
}

/// The payload of the published 0.3 context is not published, so that context is tested in `protocol`; this test sends
/// an answer with the digest of the other published payload through the whole receiver.
#[test]
fn numbers_in_the_answer_and_the_state_are_signed_as_any_implementation_writes_them() {
    let text = r#"{"a2h_version":"0.3","in_reply_to":"msg_1","resolution_id":"res_1","resolution":"answered","response":
        {"edited":false,"actor":"human:alice","resolved_at":"2026-06-12T00:00:00Z","value":{"amount":1234.50,"count":42,
        "ratio":-0.001,"tiny":1e-7,"big":1E21,"max_safe":9007199254740991,"items":[1,-2.0,3.5],"ok":true}},
        "state":{"seq":7.0,"balance":-0.5,"nested":{"n":0}}}"#;
    let digest = "56186e18d2371cee2a6636cdab7223ff52d64cfeb5bbcba01a0b4e91b7e51dca";
    let canonical = format!(
        r#"{{"a2h_version":"0.3","callback_url":"{URL}","id":"msg_1","in_reply_to":"msg_1","jti":"j","payload_sha256":"{digest}","resolution":"answered","resolution_id":"res_1","resolved_at":"2026-06-12T00:00:00Z","t":"{T}"}}"#
    );
    let v1 = countersign_protocol::a2h::signature::hmac_v1(KEY.as_bytes(), &canonical);
    let verified = verifier()
        .verify(&named(Family::A2h, T, "j", &[v1]), text.as_bytes(), NOW)
        .unwrap();
    assert_eq!(
        verified.resolved.state.unwrap().get(),
        r#"{"seq":7.0,"balance":-0.5,"nested":{"n":0}}"#
    );
}

/// The shape of a task that ended without a comment or a checklist, as other hubs send it.
#[test]
fn a_task_without_an_inner_response_is_accepted() {
    let mut response = response("ma2h_version", "0.6");
    response["resolution"] = json!("completed");
    response.as_object_mut().unwrap().remove("response");
    let headers = hmac(&response, T, JTI, &[KEY]);
    let verified = check(&verifier(), &headers, &response).unwrap();
    assert_eq!(verified.resolved.outcome, Outcome::Completed { checklist: vec![] });
    assert!(verified.answer_signed);
    response["response"] = json!({"actor": "human:eve", "resolved_at": "2026-06-04T15:48:30Z"});
    let refused = check(&verifier(), &headers, &response).unwrap_err();
    assert_eq!(refused.code(), Refusal::WrongSignature.code());
}

#[test]
fn a_change_of_anything_signed_is_noticed() {
    let honest = response("a2h_version", "0.3");
    let headers = hmac(&honest, T, JTI, &[KEY]);
    let changes = [
        ("/a2h_version", json!("0.4")),
        ("/in_reply_to", json!("msg_01HZXASK0002")),
        ("/resolution_id", json!("res_other")),
        ("/resolution", json!("declined")),
        ("/response/value", json!("deny")),
        ("/response/value", json!({"choice": "approve"})),
        ("/response/edited", json!(true)),
        ("/response/actor", json!("human:mallory")),
        ("/response/comment", json!("stop")),
        ("/response/resolved_at", json!("2026-06-04T15:48:30.000Z")),
        ("/state/sealed", json!("A2HSEALv1.y")),
        ("/state/n", json!(2)),
        ("/state", json!({})),
    ];
    for (pointer, value) in changes {
        let mut changed = honest.clone();
        *changed.pointer_mut(pointer).unwrap() = value;
        let refused = check(&verifier(), &headers, &changed).unwrap_err();
        assert_eq!(refused, Refusal::WrongSignature, "{pointer}");
    }
    for pair in [("/response", "checklist"), ("/response", "x"), ("", "state")] {
        let mut changed = honest.clone();
        let place = changed.pointer_mut(pair.0).unwrap().as_object_mut().unwrap();
        if place.remove(pair.1).is_none() {
            place.insert(pair.1.to_owned(), json!([]));
        }
        assert_eq!(
            check(&verifier(), &headers, &changed).unwrap_err(),
            Refusal::WrongSignature,
            "{pair:?}"
        );
    }
}

#[test]
fn a_change_of_the_header_is_noticed() {
    let response = response("a2h_version", "0.3");
    let honest = hmac(&response, T, JTI, &[KEY])["A2H-Signature"]
        .to_str()
        .unwrap()
        .to_owned();
    let v1 = honest.split("v1=").nth(1).unwrap();
    for (changed, reason) in [
        (honest.replace("t=1749050910", "t=1749050911"), "wrong_signature"),
        (honest.replace(JTI, "jti_other"), "wrong_signature"),
        (honest.replace(v1, &"A".repeat(43)), "wrong_signature"),
        (honest.replace(v1, &v1[..v1.len() - 1]), "bad_header"),
        (honest.replace("t=1749050910", "t=01749050910"), "bad_header"),
        (
            honest.replace("t=1749050910", "t=9223372036854775807"),
            "outside_window",
        ),
        (honest.replace("t=1749050910", "t=0"), "outside_window"),
        (honest.replace(",v1=", ",v2="), "bad_header"),
        (format!("{honest},{honest}"), "bad_header"),
        ("x".repeat(5000), "bad_header"),
        (String::new(), "bad_header"),
    ] {
        let mut headers = HeaderMap::new();
        headers.insert("A2H-Signature", HeaderValue::from_str(&changed).unwrap());
        assert_eq!(
            check(&verifier(), &headers, &response).unwrap_err().code(),
            reason,
            "{changed:.200}"
        );
    }
}

#[test]
fn the_header_must_match_the_protocol_name_of_the_body_and_appear_once() {
    let response = response("a2h_version", "0.3");
    let honest = hmac(&response, T, JTI, &[KEY]);
    let value = honest["A2H-Signature"].clone();
    assert_eq!(
        check(&verifier(), &HeaderMap::new(), &response).unwrap_err(),
        Refusal::NoSignature
    );
    let other = HeaderMap::from_iter([("MA2H-Signature".parse().unwrap(), value.clone())]);
    let refused = check(&verifier(), &other, &response).unwrap_err();
    assert!(refused.to_string().contains("must come as A2H-Signature"), "{refused}");
    let mut twice = honest.clone();
    twice.append("A2H-Signature", value);
    assert!(matches!(
        check(&verifier(), &twice, &response),
        Err(Refusal::BadHeader(_))
    ));
    let mut strange = honest;
    strange.insert("A2H-Signature", HeaderValue::from_bytes(b"t=1,jti=\xff").unwrap());
    assert!(matches!(
        check(&verifier(), &strange, &response),
        Err(Refusal::BadHeader(_))
    ));
}

#[test]
fn the_window_is_two_minutes_either_way() {
    let response = response("a2h_version", "0.3");
    let headers = hmac(&response, T, JTI, &[KEY]);
    let body = response.to_string();
    let check = |verifier: &Verifier, now: Timestamp| verifier.verify(&headers, body.as_bytes(), now).map(drop);
    for seconds in [-120, -1, 0, 1, 120] {
        assert_eq!(check(&verifier(), at(T + seconds)), Ok(()), "{seconds}");
    }
    // The clocks are compared in whole seconds.
    assert_eq!(
        check(&verifier(), Timestamp::from_millis((T + 120) * 1000 + 999)),
        Ok(())
    );
    assert_eq!(
        check(&verifier(), at(T + 121)),
        Err(Refusal::OutsideWindow { seconds: -121 })
    );
    assert_eq!(
        check(&verifier(), at(T - 121)),
        Err(Refusal::OutsideWindow { seconds: 121 })
    );
    assert!(matches!(
        check(&verifier(), Timestamp::from_millis(i64::MIN)),
        Err(Refusal::OutsideWindow { .. })
    ));
    let narrow = verifier().window(Duration::from_secs(5));
    assert!(check(&narrow, at(T + 5)).is_ok() && check(&narrow, at(T + 6)).is_err());
    let wide = verifier().window(Duration::MAX);
    assert!(check(&wide, at(T + 3600)).is_ok() && check(&wide, at(T + 3601)).is_err());
}

#[test]
fn the_callback_url_must_be_spelled_as_in_the_ask() {
    let response = response("a2h_version", "0.3");
    let headers = hmac(&response, T, JTI, &[KEY]);
    for url in [
        "https://deploybot.example/a2h/resume/",
        "https://other.example/a2h/resume",
        "",
        "HTTPS://deploybot.example/a2h/resume",
    ] {
        let elsewhere = Verifier::new(url).hmac_key(KEY);
        assert_eq!(
            check(&elsewhere, &headers, &response).unwrap_err(),
            Refusal::WrongSignature,
            "{url}"
        );
    }
}

#[test]
fn only_a_known_key_counts() {
    let response = response("a2h_version", "0.3");
    let signed_with = |keys: &[&str]| hmac(&response, T, JTI, keys);
    let refused = |verifier: Verifier, headers: &HeaderMap| check(&verifier, headers, &response).unwrap_err();
    assert_eq!(
        refused(Verifier::new(URL).hmac_key("other"), &signed_with(&[KEY])),
        Refusal::WrongSignature
    );
    assert_eq!(
        refused(Verifier::new(URL), &signed_with(&[KEY])),
        Refusal::WrongSignature
    );
    assert_eq!(
        refused(Verifier::new(URL).hmac_key(""), &signed_with(&[""])),
        Refusal::WrongSignature
    );
}

#[test]
fn keys_rotate_without_a_gap() {
    let response = response("a2h_version", "0.3");
    let receivers = [vec!["old"], vec!["old", "new"], vec!["new"]];
    let hubs = [vec!["old"], vec!["new", "old"], vec!["new"]];
    let taken = |receiver: &[&str], hub: &[&str]| {
        let verifier = receiver
            .iter()
            .fold(Verifier::new(URL), |verifier, key| verifier.hmac_key(key));
        check(&verifier, &hmac(&response, T, JTI, hub), &response).is_ok()
    };
    for (receiver, keys) in receivers.iter().enumerate() {
        for (hub, signed) in hubs.iter().enumerate() {
            let strangers = receiver.abs_diff(hub) == 2;
            assert_eq!(taken(keys, signed), !strangers, "{keys:?} {signed:?}");
        }
    }
}

#[test]
fn an_ed25519_public_key_verifies_signatures_but_not_hmacs() {
    use base64::Engine;
    let pair = ed25519_from_seed(&[9; 32]).unwrap();
    let public = base64::engine::general_purpose::URL_SAFE_NO_PAD
        .decode(ed25519_public_key(&pair))
        .unwrap();
    let honest = response("ma2h_version", "0.6");
    let headers = ed25519(&honest, T, JTI, &pair);
    let verifier = Verifier::new(URL).ed25519_key(&[1; 32]).ed25519_key(&public);
    assert!(check(&verifier, &headers, &honest).is_ok());
    let mut changed = honest.clone();
    changed["response"]["value"] = json!("deny");
    assert_eq!(
        check(&verifier, &headers, &changed).unwrap_err(),
        Refusal::WrongSignature
    );
    assert_eq!(
        check(&Verifier::new(URL).ed25519_key(b"short"), &headers, &honest).unwrap_err(),
        Refusal::WrongSignature
    );
    // The public key is not secret, so an HMAC made with it must not verify.
    let canonical = crate::signed::canonical(&honest, T, JTI);
    let forged = countersign_protocol::a2h::signature::hmac_v1(&public, &canonical);
    let refused = check(&verifier, &named(Family::Ma2h, T, JTI, &[forged]), &honest).unwrap_err();
    assert_eq!(refused, Refusal::WrongSignature);
}

#[test]
fn the_answer_to_another_message_is_refused() {
    let response = response("a2h_version", "0.3");
    let headers = hmac(&response, T, JTI, &[KEY]);
    assert!(check(&verifier().expecting("msg_01HZXASK0001"), &headers, &response).is_ok());
    let other = check(&verifier().expecting("msg_01HZXASK0002"), &headers, &response);
    assert_eq!(other.unwrap_err(), Refusal::OtherMessage);
}

#[test]
fn versions_without_a_known_push_signature_are_refused() {
    for (key, version) in [("a2h_version", "0.1"), ("ma2h_version", "0.2"), ("a2h_version", "1.0")] {
        let response = response(key, version);
        let family = if key == "a2h_version" {
            Family::A2h
        } else {
            Family::Ma2h
        };
        let headers = named(family, T, JTI, &["A".repeat(43)]);
        let refused = check(&verifier(), &headers, &response).unwrap_err();
        assert_eq!(
            (refused.code(), refused.status()),
            ("unsupported_version", 400),
            "{version}"
        );
    }
}

#[test]
fn a_body_that_is_not_a_response_is_refused() {
    let honest = response("a2h_version", "0.3");
    let headers = hmac(&honest, T, JTI, &[KEY]);
    let without = |pointer: &str, key: &str| {
        let mut response = honest.clone();
        response
            .pointer_mut(pointer)
            .unwrap()
            .as_object_mut()
            .unwrap()
            .remove(key);
        response.to_string()
    };
    let both = {
        let mut response = honest.clone();
        response["ma2h_version"] = json!("0.3");
        response.to_string()
    };
    let bodies = [
        String::new(),
        "[]".to_owned(),
        "{".to_owned(),
        both,
        without("", "a2h_version"),
        without("", "in_reply_to"),
        without("", "resolution_id"),
        without("", "resolution"),
        without("", "response"),
        without("/response", "resolved_at"),
        without("/response", "actor"),
        honest.to_string().replacen('{', r#"{"resolution":"declined","#, 1),
        "[".repeat(100_000),
        format!("{}{honest}", " ".repeat(1024 * 1024)),
    ];
    for body in bodies {
        let refused = verifier().verify(&headers, body.as_bytes(), NOW).unwrap_err();
        assert!(matches!(refused, Refusal::BadBody(_)), "{refused} for {body:.200}");
        assert_eq!(refused.status(), 400);
    }
}

#[test]
fn refusals_and_verifiers_do_not_show_keys() {
    let shown = format!("{:?}", verifier());
    assert!(!shown.contains(KEY) && shown.contains(URL), "{shown}");
    assert_eq!(
        Refusal::OutsideWindow { seconds: -300 }.to_string().split(':').next(),
        Some("signed 300 seconds ago")
    );
}
