//! The canonical form compared with two independent implementations: a Rust crate, and Node, whose number format the
//! standard uses.

#![cfg(test)]

use std::io::Write;
use std::process::{Command, Stdio};

use countersign_protocol::{jcs, json};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::Value;

/// JavaScript compares strings by UTF-16 code units, and `JSON.stringify` gives the spelling of numbers and strings.
const NODE: &str = r#"
const form = value => Array.isArray(value) ? "[" + value.map(form).join(",") + "]"
    : value !== null && typeof value === "object"
        ? "{" + Object.keys(value).sort().map(key => JSON.stringify(key) + ":" + form(value[key])).join(",") + "}"
    : JSON.stringify(value);
const lines = require("fs").readFileSync(0, "utf8").split("\n").filter(line => line !== "");
process.stdout.write(lines.map(line => form(JSON.parse(line))).join("\n"));
"#;

const DOCUMENTS: usize = 3000;

fn text() -> impl Strategy<Value = String> {
    let telling = prop::sample::select(vec![
        '\0',
        '\u{8}',
        '\n',
        '\u{1f}',
        '"',
        '\\',
        '/',
        '\u{7f}',
        'é',
        '\u{2028}',
        '\u{d7ff}',
        '\u{e000}',
        '\u{fb33}',
        '\u{ffff}',
        '😀',
        '\u{10ffff}',
        'a',
        'B',
    ]);
    prop::collection::vec(prop_oneof![2 => telling, 1 => any::<char>()], 0..6)
        .prop_map(|characters| characters.into_iter().collect())
}

fn number() -> impl Strategy<Value = Value> {
    let double = any::<u64>()
        .prop_map(f64::from_bits)
        .prop_filter("finite", |double| double.is_finite());
    prop_oneof![
        4 => double.prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
        1 => any::<u64>().prop_map(Value::from),
        1 => (-1000i32..1000, -30i32..30).prop_map(|(digits, power)| Value::from(f64::from(digits) * 10f64.powi(power))),
    ]
}

fn document() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        1 => Just(Value::Null),
        1 => any::<bool>().prop_map(Value::Bool),
        4 => number(),
        3 => text().prop_map(Value::String),
    ];
    leaf.prop_recursive(4, 48, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::Array),
            prop::collection::vec((text(), inner), 0..8)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

    #[test]
    fn agrees_with_another_crate(document in document()) {
        prop_assert_eq!(jcs::canonical(&document), serde_json_canonicalizer::to_string(&document).unwrap());
    }

    #[test]
    fn canonicalization_is_idempotent(document in document()) {
        let canonical = jcs::canonical(&document);
        if let Ok(again) = json::parse(canonical.as_bytes()) {
            prop_assert_eq!(jcs::canonical(&again), canonical);
        } else {
            prop_assert!(canonical.contains("\\u0000"));
        }
    }
}

#[test]
fn agrees_with_node() {
    let mut runner = TestRunner::deterministic();
    let strategy = document();
    let documents: Vec<Value> = (0..DOCUMENTS)
        .map(|_| strategy.new_tree(&mut runner).unwrap().current())
        .collect();
    let mut node = Command::new("node")
        .args(["-e", NODE])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("node is needed to compare with");
    let lines: String = documents.iter().map(|document| format!("{document}\n")).collect();
    // Node reads to the end before it writes, so writing everything first cannot block.
    node.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let output = node.wait_with_output().unwrap();
    assert!(output.status.success());
    let theirs = String::from_utf8(output.stdout).unwrap();
    assert_eq!(theirs.split('\n').count(), DOCUMENTS);
    for (document, theirs) in documents.iter().zip(theirs.split('\n')) {
        assert_eq!(jcs::canonical(document), theirs, "{document}");
    }
}
