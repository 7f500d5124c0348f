//! The envelope on stdin: refused with exit code 2, or asked unchanged.

use std::process::Stdio;

use serde_json::json;

use super::fresh_machine::FreshMachine;
use super::{AgentShell, answer, answered, envelope, item, items, wait_for_request};
use crate::harness::*;

const EMPTY: &str = "error: stdin cannot be empty";
const LEGACY: &str = "error: legacy JSON envelope is not supported";
const NO_PROMPT: &str = "error: missing <cueme_prompt> block";
const OUTSIDE: &str = "error: only whitespace is allowed outside blocks";
const BLANK: &str = "error: <cueme_prompt> content must be non-empty";
const BROKEN: &str = "error: invalid <cueme_payload> block";
const NO_OBJECT: &str = "error: <cueme_payload> must be JSON object or null";
const NO_UTF8: &str = "error: stdin is not valid UTF-8";

const BAD_ENVELOPES: &[(&str, &[u8])] = &[
    (EMPTY, b""),
    (EMPTY, b" \r\n\t\n"),
    (EMPTY, b"\xEF\xBB\xBF"),
    (LEGACY, b"{\"prompt\": \"hi\"}"),
    (LEGACY, b"\n  {\n"),
    (NO_PROMPT, b"hi"),
    (NO_PROMPT, b"<cueme_prompt>hi</cueme_prompt>"),
    (NO_PROMPT, b"<cueme_prompt> hi </cueme_prompt> <cueme_payload> null </cueme_payload>"),
    (NO_PROMPT, b"<cueme_prompt>\nhi\n"),
    (NO_PROMPT, b"hi\n</cueme_prompt>"),
    (NO_PROMPT, b"</cueme_prompt>\nhi\n<cueme_prompt>"),
    (NO_PROMPT, b"</cueme_prompt>\n<cueme_prompt>\nhi\n</cueme_prompt>"),
    (NO_PROMPT, b"<CUEME_PROMPT>\nhi\n</CUEME_PROMPT>"),
    (OUTSIDE, b"before\n<cueme_prompt>\nhi\n</cueme_prompt>"),
    (OUTSIDE, b"<cueme_payload>\nnull\n</cueme_payload>\n<cueme_prompt>\nhi\n</cueme_prompt>"),
    (BLANK, b"<cueme_prompt>\n</cueme_prompt>"),
    (BLANK, b"<cueme_prompt>\n \t\n\n</cueme_prompt>"),
    (BROKEN, b"<cueme_prompt>\nhi\n</cueme_prompt>\n<cueme_payload>\n{}"),
    (BROKEN, b"<cueme_prompt>\nhi\n</cueme_prompt>\n{}\n</cueme_payload>"),
    (BROKEN, b"<cueme_prompt>\nhi\n</cueme_prompt>\n</cueme_payload>\n<cueme_payload>"),
    (OUTSIDE, b"<cueme_prompt>\nhi\n</cueme_prompt>\nx\n<cueme_payload>\n{}\n</cueme_payload>"),
    (OUTSIDE, b"<cueme_prompt>\nhi\n</cueme_prompt>\n<cueme_payload>\n{}\n</cueme_payload>\nx"),
    (OUTSIDE, b"<cueme_prompt>\nhi\n</cueme_prompt>\nafter"),
    (OUTSIDE, b"<cueme_prompt>\nhi\n</cueme_prompt>\n<cueme_payload>{}</cueme_payload>"),
    (OUTSIDE, b"<cueme_prompt>\na\n</cueme_prompt>\n<cueme_prompt>\nb\n</cueme_prompt>"),
    (OUTSIDE, b"<cueme_prompt>\nsays\n</cueme_prompt>\nalone\n</cueme_prompt>"),
    (
        OUTSIDE,
        b"<cueme_prompt>\nhi\n</cueme_prompt>\n<cueme_payload>\n{}\n</cueme_payload>\n<cueme_payload>\n{}\n</cueme_payload>",
    ),
    (NO_OBJECT, b"<cueme_prompt>\nhi\n</cueme_prompt>\n<cueme_payload>\n[]\n</cueme_payload>"),
    (NO_OBJECT, b"<cueme_prompt>\nhi\n</cueme_prompt>\n<cueme_payload>\n\"a\"\n</cueme_payload>"),
    (NO_OBJECT, b"<cueme_prompt>\nhi\n</cueme_prompt>\n<cueme_payload>\n7\n</cueme_payload>"),
    (NO_OBJECT, b"<cueme_prompt>\nhi\n</cueme_prompt>\n<cueme_payload>\ntrue\n</cueme_payload>"),
    (NO_OBJECT, b"<cueme_prompt>\nhi\n</cueme_prompt>\n<cueme_payload>\n{'a': 1}\n</cueme_payload>"),
    (NO_OBJECT, b"<cueme_prompt>\nhi\n</cueme_prompt>\n<cueme_payload>\n{} {}\n</cueme_payload>"),
    (NO_UTF8, b"<cueme_prompt>\ncaf\xE9\n</cueme_prompt>"),
    (NO_UTF8, b"\xEF\xBB\xBF<cueme_prompt>\nhi \xFF\n</cueme_prompt>"),
    ("error: stdin begins with a UTF-16 byte order mark", b"\xFF\xFE<"),
    ("error: stdin contains the character U+0000", b"<cueme_prompt>\na\0b\n</cueme_prompt>"),
];

const BAD_CALLS: &[(&str, &[&str])] = &[
    ("missing agent_id", &["cue"]),
    ("missing agent_id", &["cue", "", "-"]),
    ("missing agent_id", &["cue", "--payload", "{}"]),
    ("--payload", &["cue", "gavonel", "-", "--payload", "{}"]),
    ("the prompt comes on stdin", &["cue", "gavonel"]),
    ("the prompt comes on stdin", &["cue", "gavonel", "hi"]),
    ("the prompt comes on stdin", &["cue", "gavonel", "--unknown", "-"]),
    ("too many arguments", &["cue", "gavonel", "-", "more"]),
    ("--timeout", &["cue", "gavonel", "-", "--timeout", "5"]),
    ("--agent_id", &["cue", "--agent_id", "gavonel", "-"]),
    ("--prompt", &["pause", "gavonel", "--prompt", "hi"]),
    ("missing agent_id", &["pause"]),
    ("--payload", &["pause", "gavonel", "--payload", "{}"]),
    ("too many arguments", &["pause", "gavonel", "-", "more"]),
    ("cueme resume <agent_id>", &["resume"]),
    ("missing agent_runtime", &["join"]),
    ("missing agent_runtime", &["join", ""]),
    ("unknown subcommand", &["recall", "hints"]),
    ("--max-wait", &["cue", "gavonel", "-", "--max-wait", "soon"]),
    (
        "--max-wait 0: write it as 90s, 10m, 2h or 3d, or never",
        &["cue", "gavonel", "-", "--max-wait", "0"],
    ),
];

#[test]
fn a_refused_call_leaves_nothing_behind() {
    let machine = FreshMachine::new();
    let shell = machine.shell();
    for (expected, input) in BAD_ENVELOPES {
        let stderr = shell.run(&["cue", "gavonel", "-"], input).fails(2);
        assert!(
            stderr.starts_with(expected),
            "{:?}: {stderr}",
            String::from_utf8_lossy(input)
        );
    }
    for (expected, call) in BAD_CALLS {
        let stderr = shell.run(call, envelope("hi")).fails(2);
        assert!(stderr.contains(expected), "{call:?}: {stderr}");
    }
    assert!(!machine.data().exists(), "no data directory");
    assert_eq!(
        std::fs::read_dir(machine.home()).expect("the home").count(),
        0,
        "an empty home"
    );
}

#[test]
fn an_envelope_error_names_its_line() {
    let machine = FreshMachine::new();
    let shell = machine.shell();
    for (input, expected) in [
        (
            "<cueme_prompt>\nhi\n</cueme_prompt>\n\nSee above.\n",
            "outside blocks: line 5 is \"See above.\"",
        ),
        (
            "\r\nfirst\r\n<cueme_prompt>\r\nhi\r\n</cueme_prompt>",
            "outside blocks: line 2 is \"first\"",
        ),
        (
            "<cueme_prompt>\na\nb\n</cueme_prompt>\n<cueme_payload>\n{\n \"type\": choice\n}\n</cueme_payload>\n",
            "null: expected value at line 7 of stdin, column 10",
        ),
        (
            "<cueme_prompt>\na\n</cueme_prompt>\n<cueme_payload>\n[1]\n</cueme_payload>\n",
            "null: it is a list",
        ),
    ] {
        let stderr = shell.run(&["cue", "gavonel", "-"], input).fails(2);
        assert!(stderr.contains(expected), "{input:?}: {stderr}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_call_does_not_reach_the_hub() {
    let hub = Hub::start().await;
    let shell = AgentShell::with_hub(&hub);
    let agent_id = shell.join();
    for (_, input) in BAD_ENVELOPES {
        shell.run(&["cue", &agent_id, "-"], input).fails(2);
    }
    for (_, call) in BAD_CALLS {
        shell.run(call, envelope("hi")).fails(2);
    }
    assert_eq!(items(&hub).await, [] as [serde_json::Value; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_by_the_hub_is_a_usage_error_too() {
    let hub = Hub::start().await;
    let shell = AgentShell::with_hub(&hub);
    let stderr = shell.run(&["cue", "two words", "-"], envelope("hi")).fails(2);
    assert!(stderr.contains("agent_id") && stderr.contains("cueme join"), "{stderr}");
    let payload = json!({"type": "choice", "options": ["x".repeat(300_000)]});
    let stderr = shell
        .run(&["cue", "gavonel", "-"], super::envelope_with("hi", &payload))
        .fails(2);
    assert!(stderr.contains("payload"), "{stderr}");
    let stderr = shell
        .run(&["cue", "gavonel", "-"], envelope(&"x".repeat(9_000_000)))
        .fails(2);
    assert!(stderr.contains("shorten it"), "{stderr}");
    let stderr = shell.run(&["cue", "gavonel", "-"], vec![b'x'; 17_000_000]).fails(2);
    assert!(stderr.contains("shorten it"), "{stderr}");
    assert_eq!(items(&hub).await, [] as [serde_json::Value; 0]);
}

fn utf16(text: &str, unit: fn(u16) -> [u8; 2]) -> Vec<u8> {
    format!("\u{feff}{text}").encode_utf16().flat_map(unit).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn utf_8_and_utf_16_and_every_line_ending_are_read() {
    let hub = Hub::start().await;
    let shell = AgentShell::with_hub(&hub);
    let agent_id = shell.join();
    let crlf = "\r\n \t<cueme_prompt> \r\nGrüße \u{1f600}\r\n  日本\rlast \r\n</cueme_prompt>\r\n<cueme_payload>\r\nnull\r\n</cueme_payload>\r\n";
    let plain = crlf.replace("\r\n", "\n").replace('\r', "\n");
    for input in [
        crlf.as_bytes().to_vec(),
        plain.as_bytes().to_vec(),
        [b"\xEF\xBB\xBF", crlf.as_bytes()].concat(),
        utf16(crlf, u16::to_le_bytes),
        utf16(&plain, u16::to_be_bytes),
    ] {
        let process = shell.start(&["cue", &agent_id, "-"], input);
        let id = wait_for_request(&hub, "Grüße \u{1f600}").await;
        let stored = hub.owner.get(&format!("/v1/inbox/{id}/prompt")).await;
        assert_eq!(stored.text(), "Grüße \u{1f600}\n  日本\nlast ");
        answer(&hub, &id, "schön").await;
        assert_eq!(process.finish().ok(), answered("schön"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn five_megabytes_arrive_whole_and_so_does_a_long_answer() {
    let hub = Hub::start().await;
    let shell = AgentShell::with_hub(&hub);
    let agent_id = shell.join();
    let prompt = format!("Long\n{}", "0123456789 grüße\n".repeat(5_000_000 / 18));
    let process = shell.cue(&agent_id, &prompt);
    let id = wait_for_request(&hub, "Long").await;
    let stored = hub.owner.get(&format!("/v1/inbox/{id}/prompt")).await.text();
    assert!(stored == prompt, "{} bytes of {}", stored.len(), prompt.len());
    let text = "ä\n".repeat(9_000);
    answer(&hub, &id, text.as_str()).await;
    let printed = process.finish().ok();
    assert!(printed == answered(text.trim()), "{} bytes printed", printed.len());
}

#[test]
fn an_open_stdin_pipe_times_out_with_advice() {
    let machine = FreshMachine::new();
    let (reader, writer) = std::io::pipe().expect("a pipe");
    let mut command = machine
        .shell()
        .env("CUEME_STDIN_SECONDS", "1")
        .command(&["cue", "gavonel", "-"]);
    command.stdin(Stdio::from(reader));
    let stderr = Process::start(command).finish().fails(2);
    drop(writer);
    assert!(
        stderr.contains("left open") && stderr.contains("close it") && stderr.contains("CUEME_STDIN_SECONDS"),
        "{stderr}"
    );
    assert!(!machine.data().exists(), "no request was made");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_payload_is_no_payload() {
    let hub = Hub::start().await;
    let shell = AgentShell::with_hub(&hub);
    let agent_id = shell.join();
    for payload in ["", " null ", "\n"] {
        let input = format!("{}<cueme_payload>\n{payload}\n</cueme_payload>\n", envelope("Nothing?"));
        let process = shell.start(&["cue", &agent_id, "-"], input);
        let id = wait_for_request(&hub, "Nothing?").await;
        assert_eq!(item(&hub, &id).await["question"]["kind"], "text");
        answer(&hub, &id, "ok").await;
        let ran = process.finish();
        assert_eq!(
            (ran.stdout.as_str(), ran.stderr.as_str()),
            (answered("ok").as_str(), "")
        );
    }
}
