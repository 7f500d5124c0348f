//! Broken and hostile files: refused with a position, in bounded time and memory.

use countersign_protocol::runs::strategy::{MAX_BYTES, StrategyError, StrategyFormat, read};
use serde_json::json;

const FORMATS: [StrategyFormat; 3] = [StrategyFormat::Json, StrategyFormat::Jsonc, StrategyFormat::Yaml];

fn refusal(text: &str, format: StrategyFormat) -> String {
    read(text, format).map_or_else(|error| error.to_string(), |strategy| panic!("{strategy:?}"))
}

fn syntax(text: &str, format: StrategyFormat) -> String {
    match read(text, format) {
        Err(StrategyError::Syntax(sentence)) => sentence,
        other => panic!("{text:?}: {other:?}"),
    }
}

#[test]
fn a_syntax_error_has_line_and_column() {
    assert_eq!(
        syntax("{\n  \"name\": \"S\",\n  \"version\" \"1\"\n}", StrategyFormat::Json),
        "Failed to parse strategy JSON: line 3 column 13: expected `:`"
    );
    assert_eq!(
        syntax("{\n  // é é é\n  \"name\": /* x */ oops\n}", StrategyFormat::Jsonc),
        "Failed to parse strategy JSON: line 3 column 19: expected value"
    );
    let sentence = syntax("name: S\nversion: '1\nagents: {}\n", StrategyFormat::Yaml);
    assert!(
        sentence.starts_with("Failed to parse strategy YAML: line "),
        "{sentence}"
    );
    let sentence = syntax("name: S\n  version: 1\n", StrategyFormat::Yaml);
    assert!(
        sentence.starts_with("Failed to parse strategy YAML: line 2 column "),
        "{sentence}"
    );
}

#[test]
fn an_empty_file_is_refused() {
    for text in ["", " \n", "\u{feff}"] {
        for format in FORMATS {
            assert!(
                syntax(text, format).starts_with("Failed to parse strategy "),
                "{text:?}"
            );
        }
    }
    assert_eq!(
        syntax("# nothing\n", StrategyFormat::Yaml),
        "Failed to parse strategy YAML: the file is empty"
    );
    assert!(syntax("// nothing\n", StrategyFormat::Jsonc).contains("EOF"));
    assert!(refusal("---\n", StrategyFormat::Yaml).contains("(root): must be an object, not null (line "));
}

#[test]
fn duplicate_keys_are_refused() {
    let json = "{\"name\": \"a\",\n \"name\": \"b\"}";
    for format in [StrategyFormat::Json, StrategyFormat::Jsonc] {
        let sentence = syntax(json, format);
        assert_eq!(
            sentence,
            "Failed to parse strategy JSON: line 2 column 7: a key comes twice in one object"
        );
    }
    assert_eq!(
        syntax(
            "agents:\n  a: {type: echo}\n  'a': {type: user}\n",
            StrategyFormat::Yaml
        ),
        "Failed to parse strategy YAML: line 3 column 3: a key comes twice in one mapping"
    );
    assert!(syntax(json, StrategyFormat::Yaml).contains("line 2 column 2: a key comes twice"));
}

#[test]
fn yaml_keys_must_be_text() {
    for text in ["1: a", "true: a", "~: a", ": a", "1.5: a"] {
        let sentence = syntax(text, StrategyFormat::Yaml);
        assert!(sentence.ends_with("a key must be text; put it in quotes"), "{sentence}");
    }
    for text in ["[a]: b", "? {a: b}\n: c", "? - a\n: b"] {
        assert!(
            syntax(text, StrategyFormat::Yaml).ends_with("a key must be text"),
            "{text}"
        );
    }
    assert!(refusal("'1': a", StrategyFormat::Yaml).contains("- *: unknown key"));
}

#[test]
fn aliases_and_tags_are_refused() {
    let laughs = "a: &a [x, x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a]\nc: [*b, *b, *b, *b, *b]\n";
    assert_eq!(
        syntax(laughs, StrategyFormat::Yaml),
        "Failed to parse strategy YAML: line 2 column 8: aliases (*…) are not allowed; write the value again"
    );
    for text in [
        "a: &a\n  b: *a\n",
        "a: &a {x: 1}\nb:\n  <<: *a\n",
        "&a x: *a\n",
        "? &a x\n: y\n*a : z\n",
    ] {
        assert!(
            syntax(text, StrategyFormat::Yaml).contains("aliases (*…) are not allowed"),
            "{text}"
        );
    }
    assert!(syntax("a: *nobody\n", StrategyFormat::Yaml).starts_with("Failed to parse strategy YAML: line 1 column 4"));
    for text in [
        "a: !!str 1",
        "a: !x {}",
        "a: !!set []",
        "!x a: b",
        "a: !!binary aGk=",
        "--- !x\na: b",
        "a: ! b",
    ] {
        assert!(
            syntax(text, StrategyFormat::Yaml).contains("tags (!…) are not allowed"),
            "{text}"
        );
    }
}

#[test]
fn a_file_is_one_document() {
    for text in ["a: b\n---\nc: d\n", "a: b\n...\n---\n", "--- a\n--- b\n"] {
        assert!(
            syntax(text, StrategyFormat::Yaml).ends_with("a strategy is one document; remove what follows"),
            "{text}"
        );
    }
    assert!(syntax("{} {}", StrategyFormat::Json).contains("trailing characters"));
    assert!(syntax("{} /* a */ {}", StrategyFormat::Jsonc).contains("trailing characters"));
}

#[test]
fn nesting_has_a_limit_in_every_format() {
    let nested = |depth: usize| {
        format!(
            "{{\"description\": {}{}}}",
            "[".repeat(depth - 1),
            "]".repeat(depth - 1)
        )
    };
    for format in FORMATS {
        assert!(
            refusal(&nested(32), format).contains("description: must be a string"),
            "{format:?}"
        );
        let text = syntax(&nested(33), format);
        assert!(text.contains("nested deeper than 32 levels"), "{format:?}");
        assert!(text.contains("line 1 column "), "and where: {text}");
        assert!(
            syntax(&nested(65), format).contains("nested deeper than "),
            "{format:?}"
        );
        for bomb in ["[", "{\"a\":", "[{\"a\":"] {
            syntax(&bomb.repeat(MAX_BYTES / bomb.len()), format);
        }
    }
    for bomb in ["- ", "? ", "a: ", "{a: ", "[ "] {
        syntax(&bomb.repeat(MAX_BYTES / bomb.len()), StrategyFormat::Yaml);
    }
    let indented: String = (0..1000).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
    assert!(syntax(&indented, StrategyFormat::Yaml).ends_with("nested deeper than 32 levels"));
}

#[test]
fn the_file_size_is_bounded() {
    for format in FORMATS {
        let largest = format!("{}{}", fine(), " ".repeat(MAX_BYTES - fine().len()));
        assert!(read(&largest, format).is_ok(), "{format:?}");
        let sentence = syntax(&format!("{largest} "), format);
        assert!(
            sentence.ends_with("the file has 1048577 bytes; at most 1048576 are read"),
            "{sentence}"
        );
    }
}

fn fine() -> String {
    many(1, 1)
}

fn many(agents: usize, steps: usize) -> String {
    let agents: serde_json::Map<_, _> = (0..agents)
        .map(|n| (format!("a{n}"), json!({"type": "echo"})))
        .collect();
    let steps = vec![json!({"agent": "a0"}); steps];
    json!({"name": "S", "version": "1", "agents": agents, "flow": {"name": "F", "type": "sequential", "steps": steps}})
        .to_string()
}

#[test]
fn the_number_of_agents_and_steps_is_bounded() {
    assert!(read(&many(200, 2000), StrategyFormat::Json).is_ok());
    assert_eq!(
        refusal(&many(201, 1), StrategyFormat::Json),
        "Strategy validation failed:\n  - agents: must be at most 200 agents (line 1 column 27)"
    );
    assert_eq!(
        refusal(&many(1, 2001), StrategyFormat::Json),
        "Strategy validation failed:\n  - flow.steps: a strategy has at most 2000 steps in all (line 1 column 98)"
    );
    // The limit covers the whole tree, including nested flows.
    let inner = json!({"name": "I", "type": "sequential", "steps": vec![json!({"agent": "a0"}); 999]});
    let outer = |flows: Vec<serde_json::Value>| {
        json!({"name": "S", "version": "1", "agents": {"a0": {"type": "echo"}},
               "flow": {"name": "F", "type": "sequential", "steps": flows}})
        .to_string()
    };
    assert!(read(&outer(vec![inner.clone(); 2]), StrategyFormat::Json).is_ok());
    assert!(
        refusal(&outer(vec![inner; 3]), StrategyFormat::Json)
            .contains("flow.steps.2.steps: a strategy has at most 2000")
    );
}

#[test]
fn tabs_do_not_indent_yaml() {
    let sentence = syntax("agents:\n\ta:\n\t\ttype: echo\n", StrategyFormat::Yaml);
    assert!(
        sentence.starts_with("Failed to parse strategy YAML: line 2 "),
        "{sentence}"
    );
    let missing = refusal(
        "name: S\t# a tab before a comment is white space\n",
        StrategyFormat::Yaml,
    );
    assert!(missing.contains("- version: is missing"), "{missing}");
}

#[test]
fn yaml_follows_the_core_schema() {
    let why = |value: &str| {
        let error = refusal(
            &format!("name: {value}\nversion: '1'\nagents: {{}}\nflow: 0\n"),
            StrategyFormat::Yaml,
        );
        let line = error.lines().find_map(|line| line.strip_prefix("  - name: "));
        line.and_then(|line| line.strip_suffix(" (line 1 column 1)"))
            .map(str::to_owned)
    };
    for (value, shown) in [
        ("1.0", "a number"),
        ("0x1F", "a number"),
        ("0o17", "a number"),
        ("+12", "a number"),
        ("007", "a number"),
        ("-.5", "a number"),
        ("1.", "a number"),
        ("1e3", "a number"),
        ("18446744073709551615", "a number"),
        ("True", "a boolean"),
        ("FALSE", "a boolean"),
        ("~", "null"),
        ("Null", "null"),
        ("", "null"),
        ("[a]", "an array"),
    ] {
        assert_eq!(why(value), Some(format!("must be a string, not {shown}")), "{value}");
    }
    // Booleans of older YAML versions, and texts that only look like numbers.
    for text in [
        "yes",
        "no",
        "on",
        "off",
        "y",
        "nULL",
        "1_000",
        "0b1",
        "1:30",
        "2026-06-04",
        "1e",
        "e3",
        ".",
        "+",
        "0x",
        "-0x1",
        "1.2.3",
        "\"1.0\"",
        "'~'",
    ] {
        assert_eq!(why(text), None, "{text}");
    }
    for text in [".inf", "-.INF", "+.Inf", ".nan", ".NaN"] {
        assert!(
            syntax(&format!("a: {text}"), StrategyFormat::Yaml).contains("is not a supported number; put it in quotes"),
            "{text}"
        );
    }
    for text in ["1e999", "0xfffffffffffffffff", "0o7777777777777777777777777"] {
        assert!(
            syntax(&format!("a: {text}"), StrategyFormat::Yaml).contains("is too large a number"),
            "{text}"
        );
    }
}

#[test]
fn the_null_character_is_refused_in_every_format() {
    for format in FORMATS {
        assert!(
            syntax("{\"name\": \"a\\u0000\"}", format).contains("U+0000"),
            "{format:?}"
        );
    }
    syntax("name: a\0b", StrategyFormat::Yaml);
}

/// Files that are no strategies at all, as a link or a typing error would name them.
#[test]
fn no_error_repeats_a_secret_of_a_foreign_file() {
    const SECRET: &str = "S3CR3T";
    let foreign = [
        "https://ann:S3CR3T@git.example\n",
        "[default]\naws_secret_access_key = S3CR3T\n",
        "aws_secret_access_key: S3CR3T\n",
        "S3CR3T: &a b\nc: *S3CR3T\n",
        "S3CR3T: 1\nS3CR3T: 2\n",
        "{\"S3CR3T\": 1, \"S3CR3T\": 2}",
        "{\"token\": \"S3CR3T\", \"version\": \"S3CR3T\"}",
        "{\"agents\": {\"S3CR3T\": \"S3CR3T\"}, \"flow\": \"S3CR3T\", \"name\": [\"S3CR3T\"]}",
        "{\"agents\": {\"S3CR3T\": {\"type\": \"S3CR3T\"}}, \"flow\": {\"type\": \"S3CR3T\", \"steps\": [\"S3CR3T\"]}}",
        "{\"agents\": {\"a\": {\"tools\": [\"S3CR3T\"], \"S3CR3T\": {}}}}",
        "{\"name\": \"S\", \"version\": \"1\", \"agents\": {\"S3CR3T\": {\"type\": \"echo\"}}, \"flow\": {\"name\": \"S3CR3T\", \
          \"type\": \"sequential\", \"steps\": [{\"agent\": \"S3CR3T2\"}]}}",
        "{\"name\": \"S\", \"version\": \"1\", \"agents\": {\"S3CR3T\": {\"type\": \"echo\"}}, \"flow\": {\"name\": \"S3CR3T\", \
          \"type\": \"cycle\", \"cycles\": \"Infinity\", \"steps\": [{\"agent\": \"S3CR3T\"}]}}",
        "-----BEGIN S3CR3T-----\nS3CR3T==\n",
        "@S3CR3T",
        "!S3CR3T x",
        "S3CR3T",
        "\"S3CR3T",
        "{\"\\xS3CR3T\": 1}",
        "? {S3CR3T: 1}\n: 2",
        "S3CR3T: 0xS3CR3T\n\t- S3CR3T",
    ];
    let deep = format!("{}\"S3CR3T\"{}", "{\"S3CR3T\":".repeat(40), "}".repeat(40));
    for text in foreign.into_iter().chain([deep.as_str()]) {
        for format in [StrategyFormat::Json, StrategyFormat::Jsonc, StrategyFormat::Yaml] {
            let error = read(text, format).unwrap_err().to_string();
            assert!(!error.contains(SECRET), "{format:?} {text}: {error}");
            assert!(error.contains("line "), "the position helps its author: {error}");
        }
    }
}
