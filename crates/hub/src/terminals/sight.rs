//! Who was seen waiting for a cue.

use std::collections::HashMap;
use std::time::Duration;

use countersign_protocol::hap::Kind;
use countersign_protocol::id::MessageId;
use countersign_protocol::time::Timestamp;

/// From the end of one wait to the beginning of the next, and from an answer to its being collected.
pub const LINGER: Duration = Duration::from_secs(3);

#[derive(Debug, Clone, Copy)]
pub struct Sight {
    pub kind: Kind,
    pub held: usize,
    pub here_since: Timestamp,
    pub left_at: Timestamp,
    /// It broke off, or nobody came back in time.
    pub is_gone: bool,
}

impl Sight {
    pub fn is_here(&self, now: Timestamp) -> bool {
        self.held > 0 || (!self.is_gone && now < self.left_at.plus(LINGER))
    }
}

/// What each of the other hubs last said of a cue.
#[derive(Default)]
pub struct Elsewhere(HashMap<MessageId, Vec<(String, Sight)>>);

impl Elsewhere {
    pub fn note(&mut self, node: &str, id: &MessageId, sight: Sight) {
        let sights = self.0.entry(id.clone()).or_default();
        sights.retain(|(of, _)| of != node);
        sights.push((node.to_owned(), sight));
    }

    pub fn left(&mut self, node: &str, id: &MessageId, at: Timestamp, broken: bool) {
        let of_node = self
            .0
            .get_mut(id)
            .and_then(|sights| sights.iter_mut().find(|(of, _)| of == node));
        if let Some((_, sight)) = of_node {
            (sight.held, sight.left_at, sight.is_gone) = (0, at, broken);
        }
    }

    /// Gives the cues that somebody waited for there.
    pub fn gone(&mut self, node: &str, now: Timestamp) -> Vec<MessageId> {
        let mut left = Vec::new();
        for (id, sights) in &mut self.0 {
            for (_, sight) in sights.iter_mut().filter(|(of, sight)| of == node && sight.is_here(now)) {
                (sight.held, sight.left_at, sight.is_gone) = (0, now, true);
                left.push(id.clone());
            }
        }
        left
    }

    pub fn seen(&self, id: &MessageId, now: Timestamp) -> Option<Sight> {
        let sights = self.0.get(id)?.iter().map(|(_, sight)| *sight);
        sights.max_by_key(|sight| (sight.is_here(now), sight.left_at))
    }

    pub fn take_back(&mut self, node: &str, id: &MessageId) {
        if let Some(sights) = self.0.get_mut(id) {
            sights.retain(|(of, _)| of != node);
            if sights.is_empty() {
                self.0.remove(id);
            }
        }
    }

    pub fn forget(&mut self, id: &MessageId) {
        self.0.remove(id);
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(10_000);

    fn sight(held: usize) -> Sight {
        Sight {
            kind: Kind::Cue,
            held,
            here_since: NOW,
            left_at: NOW,
            is_gone: false,
        }
    }

    fn is_here(elsewhere: &Elsewhere, id: &MessageId, now: Timestamp) -> Option<bool> {
        elsewhere.seen(id, now).map(|sight| sight.is_here(now))
    }

    #[test]
    fn somebody_is_there_while_one_hub_says_so() {
        let mut elsewhere = Elsewhere::default();
        let id = MessageId::from_uuid(Uuid::from_u128(7));
        assert_eq!(is_here(&elsewhere, &id, NOW), None);
        elsewhere.note("a", &id, sight(1));
        elsewhere.note("b", &id, sight(1));
        elsewhere.left("a", &id, NOW, true);
        assert_eq!(is_here(&elsewhere, &id, NOW), Some(true));
        elsewhere.left("b", &id, NOW, false);
        assert_eq!(is_here(&elsewhere, &id, NOW), Some(true), "it may be between two waits");
        assert_eq!(is_here(&elsewhere, &id, NOW.plus(LINGER)), Some(false));
        elsewhere.forget(&id);
        assert_eq!(is_here(&elsewhere, &id, NOW), None);
    }

    #[test]
    fn of_what_is_taken_back_nothing_stays() {
        let mut elsewhere = Elsewhere::default();
        let id = MessageId::from_uuid(Uuid::from_u128(7));
        elsewhere.note("a", &id, sight(0));
        elsewhere.note("b", &id, sight(1));
        elsewhere.take_back("b", &id);
        assert_eq!(
            is_here(&elsewhere, &id, NOW),
            Some(true),
            "only what the other one said"
        );
        elsewhere.take_back("a", &id);
        assert!(elsewhere.0.is_empty());
    }

    #[test]
    fn with_a_hub_goes_whoever_was_connected_there() {
        let mut elsewhere = Elsewhere::default();
        let id = MessageId::from_uuid(Uuid::from_u128(7));
        elsewhere.note("a", &id, sight(1));
        assert_eq!(elsewhere.gone("b", NOW), []);
        assert_eq!(elsewhere.gone("a", NOW), std::slice::from_ref(&id));
        assert_eq!(elsewhere.gone("a", NOW), [], "once");
        assert_eq!(is_here(&elsewhere, &id, NOW), Some(false));
    }
}
