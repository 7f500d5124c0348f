//! Where else a question can be answered, once this terminal cannot.

use std::fmt::Write;
use std::time::Duration;

use countersign_client::hub::{HubClient, typed};
use countersign_client::screen::escape;
use countersign_protocol::api::runs::{ListedRun, WaitingQuestion};
use tokio::time::timeout;

const LOOKUP_TIMEOUT: Duration = Duration::from_secs(5);

pub async fn where_to_answer(client: &HubClient, run_id: &str) -> String {
    let inbox = client.url(&["inbox"]);
    let run = timeout(LOOKUP_TIMEOUT, client.get(&["v1", "runs", run_id], &[])).await;
    let waiting = run
        .ok()
        .and_then(Result::ok)
        .and_then(|run| typed::<ListedRun>(&run).ok());
    answer_hint(&waiting.map(|run| run.waiting).unwrap_or_default(), inbox.as_str())
}

fn answer_hint(waiting: &[WaitingQuestion], inbox: &str) -> String {
    let mut text = String::new();
    for WaitingQuestion {
        kind,
        agent_name,
        message_id,
        ..
    } in waiting
    {
        let answer = if kind == "permission" {
            "allow|deny|allow-session|deny-session"
        } else {
            "TEXT"
        };
        let _ = writeln!(
            text,
            "  countersign answer {} {answer}    ({})",
            escape(message_id),
            escape(agent_name)
        );
    }
    let or = if waiting.is_empty() { "answer" } else { "or" };
    let _ = writeln!(text, "  {or} in the inbox: {}", escape(inbox));
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_question_is_listed_with_the_command_that_answers_it() {
        let waiting = json!([
            {"kind": "input", "agent_name": "edi\u{1b}tor", "message_id": "msg_1", "prompt": "?", "since": "x"},
            {"kind": "permission", "agent_name": "worker", "message_id": "msg_2", "since": "x"},
        ]);
        let text = answer_hint(
            &serde_json::from_value::<Vec<WaitingQuestion>>(waiting).unwrap(),
            "http://127.0.0.1:7422/inbox",
        );
        let expected = "  countersign answer msg_1 TEXT    (edi\\u{1b}tor)\n  \
            countersign answer msg_2 allow|deny|allow-session|deny-session    (worker)\n  \
            or in the inbox: http://127.0.0.1:7422/inbox\n";
        assert_eq!(text, expected);
        assert_eq!(
            answer_hint(&[], "http://h/inbox"),
            "  answer in the inbox: http://h/inbox\n"
        );
    }
}
