//! Sent answers without a confirmation yet. The connection may end in between.

use super::ask::{ConsoleAsk, RunAnswer};

#[derive(Debug)]
pub struct SentAnswer {
    pub ask: ConsoleAsk,
    pub answer: RunAnswer,
    request_id: String,
    /// The question is answered, by this answer or another.
    is_resolved: bool,
    is_again: bool,
}

#[derive(Debug, Default)]
pub struct SentAnswers(Vec<SentAnswer>);

/// The reason an answer was refused.
#[derive(Debug, PartialEq)]
pub enum RefusedAnswer {
    /// Another answer came first.
    TooLate { agent_name: String },
    /// Refused, and the question is still open.
    Refused(ConsoleAsk),
    /// Already known, or not an answer of ours.
    Nothing,
}

impl SentAnswers {
    pub fn add(&mut self, ask: ConsoleAsk, answer: RunAnswer, request_id: String) {
        self.0.retain(|sent| !sent.is_resolved);
        self.0.push(SentAnswer {
            ask,
            answer,
            request_id,
            is_resolved: false,
            is_again: false,
        });
    }

    /// Whether the question has an answer sent from here that is not confirmed yet.
    pub fn holds(&self, id: &str) -> bool {
        self.0.iter().any(|sent| sent.ask.id == id && !sent.is_resolved)
    }

    pub fn resolved(&mut self, id: &str) {
        self.0
            .iter_mut()
            .filter(|sent| sent.ask.id == id)
            .for_each(|sent| sent.is_resolved = true);
    }

    /// After a reconnect: closed questions are done, open ones are sent again. A repeated answer is harmless, because
    /// it names its question.
    pub fn unanswered(&mut self, is_open: impl Fn(&str) -> bool) -> impl Iterator<Item = &mut SentAnswer> {
        self.0.retain(|sent| !sent.is_resolved && is_open(&sent.ask.id));
        self.0.iter_mut()
    }

    pub fn refused(&mut self, code: &str, request_id: &str) -> RefusedAnswer {
        let Some(index) = self.0.iter().position(|sent| sent.request_id == request_id) else {
            return RefusedAnswer::Nothing;
        };
        let sent = self.0.remove(index);
        match (code.starts_with("NO_PENDING"), sent.is_again, sent.is_resolved) {
            (true, false, _) => RefusedAnswer::TooLate {
                agent_name: sent.ask.agent_name,
            },
            // The first attempt had arrived after all.
            (true, true, _) | (false, _, true) => RefusedAnswer::Nothing,
            (false, _, false) => RefusedAnswer::Refused(sent.ask),
        }
    }
}

impl SentAnswer {
    pub fn is_sent_again(&mut self, request_id: String) {
        (self.request_id, self.is_again) = (request_id, true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::run::ask::tests::input;

    fn sent(ids: &[&str]) -> SentAnswers {
        let mut sent = SentAnswers::default();
        for id in ids {
            sent.add(
                input(id, "ann", None),
                RunAnswer::Text("x".to_owned()),
                format!("answer-{id}"),
            );
        }
        sent
    }

    fn too_late() -> RefusedAnswer {
        RefusedAnswer::TooLate {
            agent_name: "ann".to_owned(),
        }
    }

    #[test]
    fn a_late_answer_is_reported() {
        let mut sent = sent(&["1"]);
        assert!(sent.holds("1"));
        sent.resolved("1");
        assert!(!sent.holds("1"));
        assert_eq!(sent.refused("NO_PENDING_INPUT", "answer-1"), too_late());
        assert_eq!(sent.refused("NO_PENDING_INPUT", "answer-1"), RefusedAnswer::Nothing);
    }

    #[test]
    fn a_question_with_an_invalid_answer_is_asked_again() {
        let mut sent = sent(&["1"]);
        assert_eq!(
            sent.refused("VALIDATION_ERROR", "answer-1"),
            RefusedAnswer::Refused(input("1", "ann", None))
        );
        assert_eq!(sent.refused("VALIDATION_ERROR", "subscribe"), RefusedAnswer::Nothing);
    }

    #[test]
    fn after_a_reconnect_only_answers_to_open_questions_are_sent_again() {
        let mut sent = sent(&["1", "2"]);
        let mut again: Vec<&mut SentAnswer> = sent.unanswered(|id| id == "2").collect();
        assert_eq!(again.len(), 1);
        again[0].is_sent_again("answer-3".to_owned());
        assert_eq!(sent.refused("NO_PENDING_INPUT", "answer-1"), RefusedAnswer::Nothing);
        assert_eq!(
            sent.refused("NO_PENDING_INPUT", "answer-3"),
            RefusedAnswer::Nothing,
            "the first one was accepted"
        );
    }
}
