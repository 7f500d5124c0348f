//! Answers that were sent, until it is certain what became of them. A connection may end between the two.

use super::ask::{Answer, Ask};

#[derive(Debug)]
pub struct Sent {
    pub ask: Ask,
    pub answer: Answer,
    request_id: String,
    /// The question has its answer, this one or another.
    is_resolved: bool,
    is_again: bool,
}

#[derive(Debug, Default)]
pub struct SentAnswers(Vec<Sent>);

/// Why an answer came back.
#[derive(Debug, PartialEq)]
pub enum Returned {
    /// Somebody else was first.
    TooLate { agent_name: String },
    /// Not taken, and the question is still open.
    Refused(Ask),
    /// It is known already, or none of ours.
    Nothing,
}

impl SentAnswers {
    pub fn add(&mut self, ask: Ask, answer: Answer, request_id: String) {
        self.0.retain(|sent| !sent.is_resolved);
        self.0.push(Sent {
            ask,
            answer,
            request_id,
            is_resolved: false,
            is_again: false,
        });
    }

    /// Whether the question waits for the hub, and not for a person.
    pub fn holds(&self, id: &str) -> bool {
        self.0.iter().any(|sent| sent.ask.id == id && !sent.is_resolved)
    }

    pub fn resolved(&mut self, id: &str) {
        self.0
            .iter_mut()
            .filter(|sent| sent.ask.id == id)
            .for_each(|sent| sent.is_resolved = true);
    }

    /// After a new connection: what is not open any more has arrived, what is open is to be sent again. Sending it twice does no
    /// harm, because an answer names its question.
    pub fn unanswered(&mut self, is_open: impl Fn(&str) -> bool) -> impl Iterator<Item = &mut Sent> {
        self.0.retain(|sent| !sent.is_resolved && is_open(&sent.ask.id));
        self.0.iter_mut()
    }

    pub fn refused(&mut self, code: &str, request_id: &str) -> Returned {
        let Some(place) = self.0.iter().position(|sent| sent.request_id == request_id) else {
            return Returned::Nothing;
        };
        let sent = self.0.remove(place);
        match (code.starts_with("NO_PENDING"), sent.is_again, sent.is_resolved) {
            (true, false, _) => Returned::TooLate {
                agent_name: sent.ask.agent_name,
            },
            // The first one had arrived after all.
            (true, true, _) | (false, _, true) => Returned::Nothing,
            (false, _, false) => Returned::Refused(sent.ask),
        }
    }
}

impl Sent {
    pub fn is_sent_again(&mut self, request_id: String) {
        (self.request_id, self.is_again) = (request_id, true);
    }
}

#[cfg(test)]
mod tests {
    use super::super::ask::tests::input;
    use super::*;

    fn sent(ids: &[&str]) -> SentAnswers {
        let mut sent = SentAnswers::default();
        for id in ids {
            sent.add(
                input(id, "ann", None),
                Answer::Text("x".to_owned()),
                format!("answer-{id}"),
            );
        }
        sent
    }

    fn too_late() -> Returned {
        Returned::TooLate {
            agent_name: "ann".to_owned(),
        }
    }

    #[test]
    fn whoever_comes_second_is_told() {
        let mut sent = sent(&["1"]);
        assert!(sent.holds("1"));
        sent.resolved("1");
        assert!(!sent.holds("1"));
        assert_eq!(sent.refused("NO_PENDING_INPUT", "answer-1"), too_late());
        assert_eq!(sent.refused("NO_PENDING_INPUT", "answer-1"), Returned::Nothing);
    }

    #[test]
    fn an_answer_the_hub_cannot_take_is_asked_for_again() {
        let mut sent = sent(&["1"]);
        assert_eq!(
            sent.refused("VALIDATION_ERROR", "answer-1"),
            Returned::Refused(input("1", "ann", None))
        );
        assert_eq!(sent.refused("VALIDATION_ERROR", "subscribe"), Returned::Nothing);
    }

    #[test]
    fn after_a_lost_connection_only_what_is_still_open_is_sent_again() {
        let mut sent = sent(&["1", "2"]);
        let mut again: Vec<&mut Sent> = sent.unanswered(|id| id == "2").collect();
        assert_eq!(again.len(), 1);
        again[0].is_sent_again("answer-3".to_owned());
        assert_eq!(sent.refused("NO_PENDING_INPUT", "answer-1"), Returned::Nothing);
        assert_eq!(
            sent.refused("NO_PENDING_INPUT", "answer-3"),
            Returned::Nothing,
            "the first one was taken"
        );
    }
}
