//! Published signatures of other implementations, and the detection of changes to signed fields.

#![cfg(test)]

use aws_lc_rs::signature::KeyPair;
use countersign_protocol::a2h::signature::{
    SignatureHeader, SignedContext, ed25519_from_pkcs8, ed25519_from_seed, ed25519_public_key, ed25519_v1, hmac_v1,
    verify_ed25519, verify_hmac,
};
use countersign_protocol::a2h::{CheckItem, Family, Response, ResponseAgent, ResponseBody, Version, payload_sha256};
use countersign_protocol::id::{MessageId, ResolutionId};
use countersign_protocol::json;
use countersign_protocol::time::Timestamp;
use serde_json::{Value, json};

const DIGEST: &str = "3073dec57c04075d0b6bfa17c300fa9600ad92fb13e485e410c8a95274ac47ed";
const A2H_KEY: &str = "a2h-test-secret-key-0123456789ab";
const MA2H_KEY: &str = "ma2h-test-secret-key-0123456789ab";

fn context(family: Family, minor: u32) -> SignedContext<'static> {
    SignedContext {
        version: Version { family, minor },
        callback_url: match family {
            Family::A2h => "https://deploybot.example/a2h/resume",
            Family::Ma2h => "https://deploybot.example/ma2h/resume",
        },
        in_reply_to: "msg_01HZXASK0001",
        jti: "jti_01HZX7Q9Z3DEMOFIX",
        resolution: "answered",
        resolution_id: "res_01HZXR3SOLVE",
        resolved_at: "2026-06-04T15:48:30Z",
        t: 1_749_050_910,
        payload_sha256: (minor >= 3).then_some(DIGEST),
    }
}

fn header(context: &SignedContext<'_>, v1: Vec<String>) -> SignatureHeader {
    let header = SignatureHeader {
        t: context.t,
        jti: context.jti.to_owned(),
        v1,
        kid: None,
    };
    SignatureHeader::parse(&header.to_header()).unwrap()
}

#[test]
fn every_published_signature_matches() {
    let vectors = [
        (Family::A2h, 2, A2H_KEY, "IbLbIhbpTXUH9_MQvsvsBilbYcAw7Q2YVe3x6QXTcUY"),
        (Family::A2h, 3, A2H_KEY, "_973adHXSOdFhGqNeHcEg_Sc6Iu8bqv9hp5jAj9DpLY"),
        (Family::Ma2h, 2, MA2H_KEY, "iOmcgFs4FBAhSu9PBEI3SGEmh4tavVg3o6G5dvAgLP4"),
        (Family::Ma2h, 3, MA2H_KEY, "Ryfm6kkeIKl80WEanB__dxoyL6bg5yFF33bRpu_3cxc"),
    ];
    for (family, minor, key, v1) in vectors {
        let context = context(family, minor);
        assert_eq!(hmac_v1(key.as_bytes(), &context.canonical()), v1, "{family} 0.{minor}");
        assert!(verify_hmac(
            &header(&context, vec![v1.to_owned()]),
            &[key.as_bytes()],
            &context.canonical()
        ));
    }
}

#[test]
fn the_version_key_is_sorted_by_its_name() {
    assert_eq!(
        context(Family::A2h, 2).canonical(),
        r#"{"a2h_version":"0.2","callback_url":"https://deploybot.example/a2h/resume","id":"msg_01HZXASK0001","in_reply_to":"msg_01HZXASK0001","jti":"jti_01HZX7Q9Z3DEMOFIX","resolution":"answered","resolution_id":"res_01HZXR3SOLVE","resolved_at":"2026-06-04T15:48:30Z","t":"1749050910"}"#
    );
    let keys = |text: &str| {
        let pairs = text.trim_matches(['{', '}']).split(',');
        pairs
            .map(|pair| pair.split('"').nth(1).unwrap().to_owned())
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(
        keys(&context(Family::Ma2h, 3).canonical()),
        "callback_url id in_reply_to jti ma2h_version payload_sha256 resolution resolution_id resolved_at t"
    );
}

#[test]
fn the_signed_text_is_canonical_json() {
    let context = SignedContext {
        resolution: "quote \" and line\n and é",
        ..context(Family::Ma2h, 6)
    };
    let value = json::parse(context.canonical().as_bytes()).unwrap();
    assert_eq!(countersign_protocol::jcs::canonical(&value), context.canonical());
    assert_eq!(value["id"], value["in_reply_to"]);
}

#[test]
fn a_change_of_anything_signed_is_noticed() {
    for (family, minor) in [(Family::A2h, 2), (Family::A2h, 3), (Family::Ma2h, 3), (Family::Ma2h, 6)] {
        let honest = context(family, minor);
        let signed = header(&honest, vec![hmac_v1(b"key", &honest.canonical())]);
        let other_family = if family == Family::A2h {
            Family::Ma2h
        } else {
            Family::A2h
        };
        let tampered = [
            SignedContext {
                version: Version {
                    family: other_family,
                    minor,
                },
                ..honest
            },
            SignedContext {
                version: Version {
                    family,
                    minor: minor + 1,
                },
                ..honest
            },
            SignedContext {
                callback_url: "https://deploybot.example/resume/",
                ..honest
            },
            SignedContext {
                in_reply_to: "msg_01HZXASK0002",
                ..honest
            },
            SignedContext {
                jti: "jti_01HZX7Q9Z3DEMOFIY",
                ..honest
            },
            SignedContext {
                resolution: "declined",
                ..honest
            },
            SignedContext {
                resolution_id: "res_01HZXR3SOLVF",
                ..honest
            },
            SignedContext {
                resolved_at: "2026-06-04T15:48:30.000Z",
                ..honest
            },
            SignedContext {
                t: honest.t + 1,
                ..honest
            },
            SignedContext {
                payload_sha256: Some(&DIGEST[..63]),
                ..honest
            },
        ];
        assert!(verify_hmac(&signed, &[b"key"], &honest.canonical()));
        for context in tampered {
            assert_ne!(hmac_v1(b"key", &context.canonical()), signed.v1[0], "{context:?}");
            assert!(!verify_hmac(&signed, &[b"key"], &context.canonical()), "{context:?}");
        }
    }
}

#[test]
fn any_signature_may_match_any_key_and_an_empty_list_matches_none() {
    let context = context(Family::A2h, 3);
    let canonical = context.canonical();
    let both = header(&context, vec![hmac_v1(b"new", &canonical), hmac_v1(b"old", &canonical)]);
    assert!(verify_hmac(&both, &[b"new"], &canonical));
    assert!(verify_hmac(&both, &[b"other", b"old"], &canonical));
    assert!(!verify_hmac(&both, &[b"other"], &canonical));
    assert!(!verify_hmac(&both, &[], &canonical));
    assert!(!verify_hmac(
        &SignatureHeader { v1: vec![], ..both },
        &[b"new"],
        &canonical
    ));
}

#[test]
fn ed25519_signs_the_same_text() {
    let pair = ed25519_from_seed(&[9; 32]).unwrap();
    let context = context(Family::A2h, 3);
    let canonical = context.canonical();
    let signed = header(&context, vec![ed25519_v1(&pair, &canonical)]);
    let public = pair.public_key().as_ref();
    assert_eq!((signed.v1[0].len(), ed25519_public_key(&pair).len()), (86, 43));
    assert!(verify_ed25519(&signed, &[&[1; 32], public], &canonical));
    assert!(!verify_ed25519(
        &signed,
        &[public],
        &SignedContext { t: 1, ..context }.canonical()
    ));
    assert!(!verify_ed25519(&signed, &[&[1; 32], b"short"], &canonical));
    assert!(!verify_hmac(&signed, &[public], &canonical));
    assert!(ed25519_from_pkcs8(b"not a key").is_err());
    let document = pair.to_pkcs8().unwrap();
    assert_eq!(
        ed25519_v1(&ed25519_from_pkcs8(document.as_ref()).unwrap(), &canonical),
        signed.v1[0]
    );
}

#[test]
fn the_digest_covers_the_answer_and_the_state() {
    assert_eq!(
        payload_sha256(None, None),
        "f8e362f091afdac944ab8f6a17e234c1662f1e39f846c0242824d0abc07b440c"
    );
    let numbers = json::parse(
        br#"{"edited":false,"actor":"human:alice","resolved_at":"2026-06-12T00:00:00Z","value":{"amount":1234.5,
            "count":42,"ratio":-0.001,"tiny":1e-7,"big":1e21,"max_safe":9007199254740991,"items":[1,-2,3.5],"ok":true}}"#,
    )
    .unwrap();
    let state = json::parse(br#"{"seq":7,"balance":-0.5,"nested":{"n":0}}"#).unwrap();
    let digest = payload_sha256(Some(&numbers), Some(&state));
    assert_eq!(
        digest,
        "56186e18d2371cee2a6636cdab7223ff52d64cfeb5bbcba01a0b4e91b7e51dca"
    );
    assert_ne!(payload_sha256(Some(&numbers), None), digest);
    assert_eq!(
        payload_sha256(Some(&Value::Null), Some(&Value::Null)),
        payload_sha256(None, None)
    );
}

#[test]
fn a_response_returns_the_state_verbatim() {
    let message = MessageId::from_uuid(uuid::Uuid::from_u128(1));
    let resolution = ResolutionId::from_uuid(uuid::Uuid::from_u128(2));
    let value = json!("sh\"ip");
    let inner = ResponseBody {
        value: Some(&value),
        edited: Some(false),
        actor: "human:alice",
        resolved_at: Timestamp::from_millis(1_780_588_110_000),
        comment: Some("go\non"),
        checklist: Some(&[CheckItem {
            text: "tests".to_owned(),
            done: true,
        }]),
    };
    let state = json::raw_field(r#"{"state": { "z":1.50, "a" : 1E2 } }"#, "state").unwrap();
    let mut response = Response {
        version: Version {
            family: Family::Ma2h,
            minor: 3,
        },
        in_reply_to: &message,
        resolution_id: &resolution,
        agent: ResponseAgent {
            id: "bot/\"team\"",
            run_id: "run\n1",
        },
        resolution: "answered",
        defaulted: false,
        response: &inner,
        state,
    };
    let text = serde_json::to_string(&response).unwrap();
    assert_eq!(
        text,
        [
            r#"{"ma2h_version":"0.3","in_reply_to":"msg_00000000000000000000000001","#,
            r#""resolution_id":"res_00000000000000000000000002","agent":{"id":"bot/\"team\"","run_id":"run\n1"},"#,
            r#""resolution":"answered","defaulted":false,"response":{"value":"sh\"ip","edited":false,"#,
            r#""actor":"human:alice","resolved_at":"2026-06-04T15:48:30.000Z","comment":"go\non","#,
            r#""checklist":[{"text":"tests","done":true}]},"state":{ "z":1.50, "a" : 1E2 }}"#,
        ]
        .concat()
    );
    assert!(text.ends_with(r#","state":{ "z":1.50, "a" : 1E2 }}"#), "{text}");
    assert_eq!(
        json::parse(text.as_bytes()).unwrap(),
        json!({"ma2h_version": "0.3", "in_reply_to": message, "resolution_id": resolution,
            "agent": {"id": "bot/\"team\"", "run_id": "run\n1"}, "resolution": "answered", "defaulted": false,
            "response": inner, "state": {"z": 1.5, "a": 100.0}})
    );
    response.state = None;
    assert!(!serde_json::to_string(&response).unwrap().contains("state"));
    assert_eq!(
        json::parse(serde_json::to_string(&response).unwrap().as_bytes())
            .unwrap()
            .get("state"),
        None
    );
}
