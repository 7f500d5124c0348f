//! A person's decision, as the body of the resolve call.

use countersign_core::vocabulary::Action;
use countersign_protocol::api::inbox::ChecklistStep;
use serde_json::{Value, json};

#[derive(Debug, Clone, PartialEq)]
pub enum PersonDecision {
    Answered(Value),
    Declined,
    Completed(Vec<ChecklistStep>),
    Dismissed(Vec<ChecklistStep>),
}

impl PersonDecision {
    /// The word for the decision; `answering` is the one for an answer.
    pub fn word(&self, answering: Action) -> &'static str {
        match self {
            Self::Answered(_) => answering.word(),
            Self::Declined => Action::Skip.word(),
            Self::Completed(_) => Action::Done.word(),
            Self::Dismissed(_) => Action::CannotDo.word(),
        }
    }

    pub fn body(&self, comment: &str) -> Value {
        let mut body = match self {
            Self::Answered(value) => json!({ "resolution": "answered", "value": value }),
            Self::Declined => json!({ "resolution": "declined" }),
            Self::Completed(steps) => with_steps("completed", steps),
            Self::Dismissed(steps) => with_steps("dismissed", steps),
        };
        if !comment.trim().is_empty() {
            body["comment"] = comment.into();
        }
        body
    }
}

fn with_steps(resolution: &str, steps: &[ChecklistStep]) -> Value {
    let mut body = json!({ "resolution": resolution });
    if !steps.is_empty() {
        body["checklist"] = json!(steps);
    }
    body
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_goes_along_when_there_is_one() {
        assert_eq!(PersonDecision::Declined.body("  "), json!({"resolution": "declined"}));
        let body = PersonDecision::Answered(json!(["a"])).body("why");
        assert_eq!(
            body,
            json!({"resolution": "answered", "value": ["a"], "comment": "why"})
        );
    }

    #[test]
    fn a_task_without_a_checklist_sends_none() {
        assert_eq!(
            PersonDecision::Completed(vec![]).body(""),
            json!({"resolution": "completed"})
        );
        let steps = vec![ChecklistStep {
            text: "a".to_owned(),
            done: true,
        }];
        let body = json!({"resolution": "dismissed", "checklist": [{"text": "a", "done": true}]});
        assert_eq!(PersonDecision::Dismissed(steps).body(""), body);
    }
}
