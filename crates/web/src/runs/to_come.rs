//! The steps that a run has not begun yet.

use countersign_protocol::runs::strategy::Flow;

use super::lines::{LineKind, TimelineLine};

/// The names of the steps after the last one on the page. A cycle may begin another round; only the steps of this one are
/// known.
pub fn steps_to_come<'f>(flow: &'f Flow, lines: &[TimelineLine]) -> Vec<&'f str> {
    let names: Vec<&str> = flow.steps.iter().map(|step| step.name()).collect();
    let began = lines
        .iter()
        .rposition(|line| matches!(line.kind, LineKind::Began { .. }));
    let in_segment = &lines[began.unwrap_or_default()..];
    let begun = in_segment.iter().filter_map(|line| match &line.kind {
        LineKind::Step(step) => Some(step.name.as_str()),
        _ => None,
    });
    let begun: Vec<&str> = begun.collect();
    let last = match (began, begun.last()) {
        (_, None) if lines.is_empty() || began.is_some() => return names,
        (Some(_), _) => (begun.len() - 1) % names.len().max(1),
        // The start of the segment is on an earlier page: only a name that is unique in the flow gives the position.
        (None, Some(name)) if names.iter().filter(|other| *other == name).count() == 1 => {
            names.iter().position(|other| other == name).unwrap_or_default()
        }
        (None, _) => return Vec::new(),
    };
    names.into_iter().skip(last + 1).collect()
}

#[cfg(test)]
mod tests {
    use countersign_protocol::runs::strategy::{FlowKind, Step};
    use countersign_protocol::time::Timestamp;

    use super::super::lines::{StepEnding, StepLine};
    use super::*;
    use crate::layout::formatting::display_time;

    fn line(kind: LineKind) -> TimelineLine {
        TimelineLine {
            seq: 1,
            rev: String::new(),
            kind,
        }
    }

    fn began() -> TimelineLine {
        line(LineKind::Began {
            at: display_time(Timestamp::from_millis(0)),
            is_first: true,
        })
    }

    fn step(name: &str) -> TimelineLine {
        line(LineKind::Step(Box::new(StepLine {
            name: name.to_owned(),
            began: None,
            given: None,
            notes: Vec::new(),
            ending: StepEnding::Cut,
        })))
    }

    #[track_caller]
    fn comes(steps: &[&str], lines: &[TimelineLine], expected: &[&str]) {
        let flow = Flow {
            name: "flow".to_owned(),
            kind: FlowKind::Sequential,
            steps: steps.iter().map(|name| Step::Agent((*name).to_owned())).collect(),
        };
        assert_eq!(steps_to_come(&flow, lines), expected);
    }

    #[test]
    fn steps_after_the_current_one_are_to_come() {
        let flow = ["draft", "editor", "send"];
        comes(&flow, &[], &flow);
        comes(&flow, &[began()], &flow);
        comes(&flow, &[began(), step("draft")], &["editor", "send"]);
        comes(&flow, &[began(), step("draft"), step("editor"), step("send")], &[]);
        comes(
            &flow,
            &[began(), step("draft"), began(), step("draft"), step("editor")],
            &["send"],
        );
    }

    #[test]
    fn a_step_may_stand_twice_and_rounds_begin_again() {
        let flow = ["write", "check", "write"];
        comes(&flow, &[began(), step("write")], &["check", "write"]);
        comes(&flow, &[began(), step("write"), step("check"), step("write")], &[]);
        let round = [began(), step("a"), step("b"), step("a")];
        comes(&["a", "b"], &round, &["b"]);
    }

    #[test]
    fn without_the_start_only_a_name_that_stands_once_tells_the_place() {
        comes(&["a", "b", "c"], &[step("b")], &["c"]);
        comes(&["a", "b", "a"], &[step("a")], &[]);
    }
}
