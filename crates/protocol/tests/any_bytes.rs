//! The fuzzer's properties as tests: with inputs that are almost valid, and with the inputs that the fuzzer found.

#![cfg(test)]

use std::path::Path;

use proptest::prelude::*;

#[path = "../../../fuzz/src/lib.rs"]
mod properties;

const SEEDS: [&str; 9] = [
    r#"{"a2h_version":"0.3","type":"ask","created_at":"2026-06-04T15:48:30Z","idempotency_key":"k","title":"t","agent":{"id":"a","run_id":"r","runtime":"cli"},"state":{"b":1.50,"a":[1e2]},"request":{"mode":"select","options":[{"value":"a","label":"A"}],"callback":{"mode":"push","url":"https://a.example/"}}}"#,
    r#"{"a":[0,-0.0,1e21,1e-7,9007199254740993,"\u00e9\ud83d\ude00\\\"\n"],"\ufb33":{},"\ud83d\ude00":[[[]]],"state":null}"#,
    "A2H-Signature: t=1749050910,jti=jti_1,v1=In3evtBNZywRzuNYkphbw-_764_Wu98zWM5rZ1iN4VI,kid=k",
    "A2HSEALv1.AAECAwQFBgcICQoL.Y6OaBHh5-3NEnsfyjSwJ2NsedSc6TlVdf70XmLSMXCvrQyiX-6NsgA.5KEzKbg-81DNhE2H8Oge-Q",
    r#"{"type":"user_input","runId":"r","agentName":"user","text":"t","inputId":"i","requestId":"q"}"#,
    r#"{"type":"update_policy","runId":"r","mode":"read","allow":["a"],"default":"ask"}"#,
    r#"{"name":"S","version":"1","agents":{"u":{"type":"user"},"m":{"model":"a/b","tools":["ask_question"]}},"flow":{"name":"F","type":"cycle","cycles":2,"observer":"u","steps":[{"agent":"m"}]}}"#,
    "# a\nname: S\nversion: '1'\nagents:\n  u: {type: user}\n  e:\n    type: template\n    config: {template: \"{{input}}\"}\nflow:\n  name: F\n  type: broadcast\n  separator: |\n    -\n  steps:\n  - agent: u\n  - agent: e\n",
    "<cueme_prompt>\nGo on?\n</cueme_prompt>\n<cueme_payload>\n{\"type\":\"choice\",\"options\":[\"a\",{\"label\":\"b\"}]}\n</cueme_payload>",
];

/// A seed with some bytes overwritten, inserted or removed.
fn nearly_right() -> impl Strategy<Value = Vec<u8>> {
    let telling = prop::sample::select(br#"{}[]",:=\0159eE+-._ tfnu/*#&!|>?'<~%"#.to_vec());
    let change = (
        any::<prop::sample::Index>(),
        prop_oneof![3 => telling, 1 => any::<u8>()],
        0..4u8,
    );
    (
        prop::sample::select(SEEDS.to_vec()),
        prop::collection::vec(change, 0..6),
    )
        .prop_map(|(seed, changes)| {
            let mut bytes = seed.as_bytes().to_vec();
            for (place, byte, kind) in changes {
                let at = place.index(bytes.len());
                match kind {
                    0 => bytes.insert(at, byte),
                    1 if bytes.len() > 1 => drop(bytes.remove(at)),
                    _ => bytes[at] = byte,
                }
            }
            bytes
        })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn any_bytes_are_parsed_or_refused(bytes in prop_oneof![1 => any::<Vec<u8>>(), 4 => nearly_right()]) {
        properties::envelope(&bytes);
        properties::jcs(&bytes);
        properties::signature_header(&bytes);
        properties::seal_token(&bytes);
        properties::run_message(&bytes);
        properties::strategy_file(&bytes);
        properties::hap_envelope(&bytes);
    }
}

type Property = fn(&[u8]);

/// A finding of the fuzzer is added to its corpus, so that it stays fixed.
#[test]
fn the_corpora_are_parsed_or_refused() {
    let targets: [(&str, Property); 7] = [
        ("envelope", properties::envelope),
        ("hap_envelope", properties::hap_envelope),
        ("jcs", properties::jcs),
        ("run_message", properties::run_message),
        ("seal_token", properties::seal_token),
        ("signature_header", properties::signature_header),
        ("strategy_file", properties::strategy_file),
    ];
    let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    assert_eq!(std::fs::read_dir(&corpora).unwrap().count(), targets.len());
    for (target, property) in targets {
        let inputs: Vec<_> = std::fs::read_dir(corpora.join(target)).unwrap().collect();
        assert!(inputs.len() > 10, "{target}");
        for input in inputs {
            property(&std::fs::read(input.unwrap().path()).unwrap());
        }
    }
}

#[test]
fn the_seeds_are_accepted() {
    use countersign_protocol::a2h::{Envelope, SealToken, SignatureHeader};
    use countersign_protocol::runs::strategy::{self, StrategyFormat};
    use countersign_protocol::{hap, json, runs};
    assert!(Envelope::from_value(json::parse(SEEDS[0].as_bytes()).unwrap()).is_ok());
    assert!(json::parse(SEEDS[1].as_bytes()).is_ok());
    assert!(SignatureHeader::parse(SEEDS[2]).is_ok());
    assert!(SealToken::parse(SEEDS[3]).is_ok());
    assert!(runs::read(SEEDS[4].as_bytes()).is_ok());
    assert!(runs::read(SEEDS[5].as_bytes()).is_ok());
    assert!(strategy::read(SEEDS[6], StrategyFormat::Json).is_ok());
    assert!(strategy::read(SEEDS[7], StrategyFormat::Yaml).is_ok());
    assert!(hap::CueEnvelope::parse(hap::CueKind::Cue, SEEDS[8]).is_ok());
}
