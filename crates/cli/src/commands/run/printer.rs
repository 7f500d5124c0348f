//! Prints a run's events as they happen. Agents' texts are untrusted: they are quoted with a margin and escaped.

use countersign_client::screen::{escape, escape_lines, quote};
use countersign_protocol::runs::{Event, StreamEvent, ToolStatus, Usage};

const MARGIN: &str = "  | ";
/// The limit of remembered streamed text, which is compared with the final output.
const MAX_STREAMED_BYTES: usize = 16 * 1024 * 1024;

#[derive(Debug, Default)]
pub struct EventPrinter {
    step: String,
    /// Whether an agent of the step has printed output.
    has_output: bool,
    /// The last input from this terminal.
    written: Option<String>,
    speaker: String,
    streamed: String,
    /// Whether the cursor is behind unfinished text.
    is_in_line: bool,
}

impl EventPrinter {
    pub fn print_event(&mut self, event: &Event) -> String {
        match event {
            Event::StrategyStarted { strategy_name, .. } => self.line(&format!("Running {}", escape(strategy_name))),
            Event::StepStarted { step_name, .. } => {
                self.step.clone_from(step_name);
                (self.has_output, self.written) = (false, None);
                self.line(&format!("Step {}", escape(step_name)))
            }
            Event::StepCompleted { step_name, result } => {
                let is_known = self.has_output || self.written.as_deref() == Some(&result.text);
                let unheard = if is_known { String::new() } else { quote(&result.text) };
                self.line(&format!("{unheard}Step {} done", escape(step_name)))
            }
            Event::AgentStreaming { agent_name, event, .. } => self.stream(agent_name, event),
            Event::AgentOutput { agent_name, text, .. } => self.output(agent_name, text),
            Event::PolicyUpdated { tool, policies } => {
                let names: Vec<&str> = policies.iter().map(|policy| policy.name.as_str()).collect();
                self.line(&escape(&format!("From now on for {tool}: {}", names.join(", "))))
            }
            Event::SteerQueued { text } => {
                let text = quote(text);
                self.line(&format!("Queued for the next agent:\n{}", text.trim_end()))
            }
            // Questions are shown by the console.
            Event::RequestInput { .. } | Event::RequestPermission { .. } | Event::RequestQuestion { .. } => {
                String::new()
            }
            Event::StrategyCompleted { .. } | Event::StrategyError { .. } => self.end_line(),
        }
    }

    /// Ends an unfinished line.
    pub fn end_line(&mut self) -> String {
        if std::mem::take(&mut self.is_in_line) {
            "\n".to_owned()
        } else {
            String::new()
        }
    }

    /// Remembers input from this terminal, which need not be printed again.
    pub fn written(&mut self, text: &str) {
        self.written = Some(text.to_owned());
    }

    fn line(&mut self, text: &str) -> String {
        format!("{}{text}\n", self.end_line())
    }

    fn stream(&mut self, agent_name: &str, event: &StreamEvent) -> String {
        match event {
            StreamEvent::Text { text } => {
                if self.streamed.len() + text.len() <= MAX_STREAMED_BYTES {
                    self.streamed.push_str(text);
                }
                self.agent_text(agent_name, text)
            }
            StreamEvent::ToolCall { tool_name, .. } => self.line(&escape(&format!("{agent_name} uses {tool_name}"))),
            StreamEvent::ToolResult {
                tool_name,
                status: ToolStatus::Error,
                error,
                ..
            } => {
                let why = error.as_deref().unwrap_or("no reason given");
                self.line(&escape(&format!("{tool_name} failed: {why}")))
            }
            StreamEvent::ToolResult {
                status: ToolStatus::Completed,
                ..
            }
            | StreamEvent::ThinkingStart { .. }
            | StreamEvent::Thinking { .. }
            | StreamEvent::ThinkingEnd { .. }
            | StreamEvent::StepStart => String::new(),
            StreamEvent::Done { .. } => {
                self.streamed.clear();
                self.speaker.clear();
                self.end_line()
            }
        }
    }

    /// The whole text. If it was streamed, only the missing part is printed.
    fn output(&mut self, agent_name: &str, text: &str) -> String {
        let streamed = std::mem::take(&mut self.streamed);
        let printed = if streamed.ends_with(text) {
            String::new()
        } else if let Some(rest) = text.strip_prefix(&streamed) {
            self.agent_text(agent_name, rest)
        } else {
            let line_end = self.end_line();
            line_end + &self.agent_text(agent_name, text)
        };
        self.has_output = true;
        self.speaker.clear();
        printed + &self.end_line()
    }

    fn agent_text(&mut self, agent_name: &str, text: &str) -> String {
        if text.is_empty() {
            return String::new();
        }
        let mut printed = String::new();
        if self.speaker != agent_name {
            printed.push_str(&self.end_line());
            self.speaker = agent_name.to_owned();
            if self.step != agent_name {
                printed.push_str(&format!("{}:\n", escape(agent_name)));
            }
        }
        for piece in escape_lines(text).split_inclusive('\n') {
            if !self.is_in_line {
                printed.push_str(if piece == "\n" { MARGIN.trim_end() } else { MARGIN });
            }
            printed.push_str(piece);
            self.is_in_line = !piece.ends_with('\n');
        }
        printed
    }
}

/// `, 12 tokens read and 30 written`; empty if no model was used.
pub fn usage_text(usage: Usage) -> String {
    match (usage.prompt_tokens, usage.completion_tokens) {
        (0, 0) => String::new(),
        (read, written) => format!(", {read} tokens read and {written} written"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn event(event: Value) -> Event {
        serde_json::from_value(event).unwrap()
    }

    fn printed(events: &[Value]) -> String {
        let mut story = EventPrinter::default();
        events
            .iter()
            .map(|one| story.print_event(&event(one.clone())))
            .collect::<String>()
            + &story.end_line()
    }

    fn step(name: &str) -> Value {
        json!({"type": "step_started", "stepName": name, "message": ""})
    }

    fn done(name: &str, text: &str) -> Value {
        let result = json!({"text": text, "usage": usage(), "finishReason": "stop"});
        json!({"type": "step_completed", "stepName": name, "result": result})
    }

    fn usage() -> Value {
        json!({"promptTokens": 0, "completionTokens": 0})
    }

    fn text(agent: &str, text: &str) -> Value {
        json!({"type": "agent_streaming", "agentName": agent, "event": {"type": "text", "text": text}})
    }

    fn output(agent: &str, text: &str) -> Value {
        json!({"type": "agent_output", "agentName": agent, "text": text, "usage": usage()})
    }

    #[test]
    fn streamed_text_is_printed_once_with_a_margin() {
        let events = [
            step("writer"),
            text("writer", "The "),
            text("writer", "sea\ncomes"),
            text("writer", ".\n"),
            output("writer", "The sea\ncomes.\n"),
            done("writer", "The sea\ncomes.\n"),
        ];
        assert_eq!(
            printed(&events),
            "Step writer\n  | The sea\n  | comes.\nStep writer done\n"
        );
    }

    #[test]
    fn missed_parts_of_a_stream_are_printed_at_the_end() {
        let rest = printed(&[step("writer"), text("writer", "The s"), output("writer", "The sea")]);
        assert_eq!(rest, "Step writer\n  | The sea\n");
        let hole = printed(&[step("writer"), text("writer", "The a"), output("writer", "The sea")]);
        assert_eq!(hole, "Step writer\n  | The a\n  | The sea\n");
        let last_round = printed(&[
            step("writer"),
            text("writer", "Hm. "),
            text("writer", "The sea"),
            output("writer", "The sea"),
        ]);
        assert_eq!(last_round, "Step writer\n  | Hm. The sea\n");
    }

    #[test]
    fn an_empty_line_has_a_margin_and_nothing_behind_it() {
        let events = [
            step("writer"),
            text("writer", "one\n"),
            text("writer", "\ntwo"),
            output("writer", "one\n\ntwo"),
        ];
        assert_eq!(printed(&events), "Step writer\n  | one\n  |\n  | two\n");
    }

    #[test]
    fn an_agent_inside_a_step_is_named() {
        let events = [
            step("inner"),
            output("ann", "a"),
            output("bob", "b"),
            done("inner", "b"),
        ];
        assert_eq!(
            printed(&events),
            "Step inner\nann:\n  | a\nbob:\n  | b\nStep inner done\n"
        );
    }

    #[test]
    fn a_step_result_not_seen_yet_is_printed() {
        assert_eq!(
            printed(&[step("editor"), done("editor", "from\nthe desk")]),
            "Step editor\n  | from\n  | the desk\nStep editor done\n"
        );
        let mut story = EventPrinter::default();
        story.print_event(&event(step("editor")));
        story.written("mine");
        assert_eq!(story.print_event(&event(done("editor", "mine"))), "Step editor done\n");
        story.written("mine");
        assert_eq!(
            story.print_event(&event(done("editor", "theirs"))),
            "  | theirs\nStep editor done\n"
        );
    }

    #[test]
    fn no_event_reaches_the_terminal_unescaped() {
        let evil = "\u{1b}[2J\u{202e}\r";
        let tool = json!({"type": "tool-call", "toolCallId": "1", "toolName": evil, "args": "{}"});
        let failed = json!({
            "type": "tool-result", "toolCallId": "1", "toolName": evil, "output": "", "status": "error", "error": evil,
        });
        let streaming = |event: Value| json!({"type": "agent_streaming", "agentName": evil, "event": event});
        let shown = printed(&[
            json!({"type": "strategy_started", "strategyName": evil, "agents": [evil], "flowTree": {}}),
            step(evil),
            text(evil, evil),
            streaming(tool),
            streaming(failed),
            output("other", evil),
            done("other", evil),
            json!({"type": "policy_updated", "tool": evil, "policies": [{"name": evil}]}),
            json!({"type": "steer_queued", "text": evil}),
        ]);
        let raw = |letter: char| letter != '\n' && (letter.is_control() || letter == '\u{202e}');
        assert!(!shown.contains(raw), "{shown:?}");
    }
}
