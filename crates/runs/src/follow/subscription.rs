//! Subscribing to a run without gaps or duplicates: the follower is registered and gets its replay under one lock.

use std::sync::Arc;

use crate::follow::broadcast::FrameText;

use super::broadcast::EventFrame;
use super::client::RunClient;
use crate::run::{RunFollower, RunStage, TrackedRun, TrackedRunState};

/// A request to follow a run.
#[derive(Default)]
pub struct Subscription {
    /// Replay everything after this seq first.
    pub after: Option<u64>,
    pub extensions: bool,
    /// Frames sent before anything else.
    pub first: Vec<FrameText>,
    /// Number of records that `first` includes, where that matters.
    pub records: Option<u64>,
    /// Events read from the store, because they are no longer in memory.
    pub earlier: Vec<EventFrame>,
    /// `earlier` is complete up to this seq.
    pub earlier_to: u64,
}

#[derive(Debug, PartialEq, Eq)]
pub enum SubscribeOutcome {
    Done,
    /// Events up to this seq are only in the store.
    Missing {
        up_to: u64,
    },
    /// New records were added since `first` was built.
    Stale,
    /// The client follows too many runs.
    TooManyFollowedRuns,
    /// This entry was dropped from memory; look the run up again.
    Gone,
}

impl TrackedRun {
    pub fn subscribe(&self, client: &Arc<RunClient>, subscription: &Subscription) -> SubscribeOutcome {
        let mut state = self.lock();
        if matches!(state.stage, RunStage::Forgotten) {
            return SubscribeOutcome::Gone;
        }
        if subscription.records.is_some_and(|records| records != state.records) {
            return SubscribeOutcome::Stale;
        }
        if let Some(after) = subscription.after {
            let up_to = state.replay.floor();
            if up_to > after.max(subscription.earlier_to) {
                return SubscribeOutcome::Missing { up_to };
            }
        }
        if !client.follow(&self.id) {
            return SubscribeOutcome::TooManyFollowedRuns;
        }
        let is_new = state.follow(client, subscription.extensions);
        subscription
            .first
            .iter()
            .for_each(|text| client.push(text.clone(), false));
        if is_new || subscription.after.is_some() {
            state.send_pending(client, subscription.after);
        }
        if let Some(after) = subscription.after {
            state.send_replay(client, after, subscription);
        }
        SubscribeOutcome::Done
    }
}

impl TrackedRunState {
    /// Returns true for a new follower. Extensions once requested stay on.
    fn follow(&mut self, client: &Arc<RunClient>, extensions: bool) -> bool {
        match self
            .followers
            .iter_mut()
            .find(|follower| follower.client.number == client.number)
        {
            Some(follower) => {
                follower.extensions |= extensions;
                false
            }
            None => {
                self.followers.push(RunFollower {
                    client: Arc::clone(client),
                    extensions,
                });
                true
            }
        }
    }

    /// Sends pending asks that the replay does not include, so that the seqs a client sees never go back.
    fn send_pending(&self, client: &RunClient, after: Option<u64>) {
        let comes_again = |frame: &EventFrame| after.is_some_and(|after| frame.seq > after);
        for pending in self.pending.iter().filter(|pending| !comes_again(&pending.frame)) {
            client.push(pending.frame.text.clone(), false);
        }
    }

    fn send_replay(&self, client: &RunClient, after: u64, subscription: &Subscription) {
        let stored = subscription
            .earlier
            .iter()
            .filter(|frame| frame.seq > after && frame.seq <= subscription.earlier_to);
        for frame in stored.chain(self.replay.after(after.max(subscription.earlier_to))) {
            let is_open = || self.pending.iter().any(|pending| pending.frame.seq == frame.seq);
            let text = if frame.is_ask && !is_open() {
                frame.resolved()
            } else {
                frame.text.clone()
            };
            client.push(text, frame.is_droppable);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::{NOW, ask, broadcast, received, running, step};

    fn client() -> Arc<RunClient> {
        Arc::new(RunClient::new(1))
    }

    fn after(seq: u64) -> Subscription {
        Subscription {
            after: Some(seq),
            ..Subscription::default()
        }
    }

    fn frames(seqs: impl IntoIterator<Item = u64>) -> Vec<String> {
        seqs.into_iter().map(|seq| format!("{{\"seq\":{seq}}}")).collect()
    }

    #[test]
    fn a_pending_ask_is_sent_once_to_a_new_follower() {
        let run = running("r", 0);
        let client = client();
        broadcast(&run, 1..=2);
        ask(&run, 3);
        run.subscribe(&client, &Subscription::default());
        assert_eq!(received(&client), frames([3]));
        run.subscribe(&client, &Subscription::default());
        assert!(received(&client).is_empty(), "it follows already");
        run.subscribe(&client, &after(3));
        assert_eq!(
            received(&client),
            frames([3]),
            "a client that names a seq may have lost the ask"
        );
        run.subscribe(&client, &after(2));
        assert_eq!(received(&client), frames([3]), "requested by seq");
    }

    #[test]
    fn seqs_never_go_back_for_a_returning_follower() {
        let run = running("r", 0);
        let client = client();
        ask(&run, 1);
        broadcast(&run, 2..=4);
        run.subscribe(&client, &after(2));
        assert_eq!(received(&client), frames([1, 3, 4]));
        broadcast(&run, [5]);
        assert_eq!(received(&client), frames([5]));
    }

    #[test]
    fn a_replayed_ask_is_marked_when_it_is_resolved() {
        let run = running("r", 0);
        let client = client();
        let first = ask(&run, 1);
        ask(&run, 2);
        run.resolved(&first, NOW);
        run.subscribe(&client, &after(0));
        assert_eq!(received(&client), [r#"{"seq":1,"resolved":true}"#, r#"{"seq":2}"#]);
    }

    #[test]
    fn events_missing_in_memory_are_requested_and_sent_first() {
        let run = running("r", 5);
        let client = client();
        broadcast(&run, 6..=7);
        let mut subscription = after(3);
        assert_eq!(
            run.subscribe(&client, &subscription),
            SubscribeOutcome::Missing { up_to: 5 }
        );
        assert!(received(&client).is_empty());
        subscription.earlier = (4..=6).map(step).collect();
        subscription.earlier_to = 5;
        assert_eq!(run.subscribe(&client, &subscription), SubscribeOutcome::Done);
        assert_eq!(received(&client), frames(4..=7), "seq 6 is in both and is sent once");
        assert_eq!(run.subscribe(&client, &after(5)), SubscribeOutcome::Done);
    }

    #[test]
    fn the_end_of_an_ask_is_sent_to_followers_with_extensions() {
        let run = running("r", 0);
        let plain = client();
        let extended = Arc::new(RunClient::new(2));
        let id = ask(&run, 1);
        run.subscribe(&plain, &after(1));
        run.subscribe(
            &extended,
            &Subscription {
                extensions: true,
                ..after(1)
            },
        );
        received(&plain);
        received(&extended);
        run.resolved(&id, NOW);
        assert!(received(&plain).is_empty());
        let text = received(&extended);
        assert!(
            text.len() == 1 && text[0].contains("input_resolved") && text[0].contains(r#""inputId":"1""#),
            "{text:?}"
        );
    }
}
