//! Beginning to follow a run, without a gap and without anything twice: who joins is noted, and gets what was told before,
//! under one lock.

use std::sync::Arc;

use axum::extract::ws::Utf8Bytes;

use super::client::Client;
use super::frame::Frame;
use super::run::{Follower, Run, RunState, Stage};

/// What somebody wants who begins to follow a run.
#[derive(Default)]
pub struct Joining {
    /// All that was told behind this number comes first.
    pub after: Option<u64>,
    pub extensions: bool,
    /// Sent before anything else.
    pub first: Vec<Utf8Bytes>,
    /// How many records the first of it knows of, where that matters.
    pub records: Option<u64>,
    /// From the store, where it is not in memory any more.
    pub earlier: Vec<Frame>,
    /// The number up to which `earlier` has everything.
    pub earlier_to: u64,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Joined {
    Done,
    /// What was told up to this number is in the store and not in memory.
    Missing {
        up_to: u64,
    },
    /// More records have come than the first of it knows of.
    Stale,
    /// This client follows too many.
    TooMany,
    /// The run is not here any more, and may be found again.
    Gone,
}

impl Run {
    pub fn join(&self, client: &Arc<Client>, joining: &Joining) -> Joined {
        let mut state = self.lock();
        if matches!(state.stage, Stage::Forgotten) {
            return Joined::Gone;
        }
        if joining.records.is_some_and(|records| records != state.records) {
            return Joined::Stale;
        }
        if let Some(after) = joining.after {
            let up_to = state.ring.floor();
            if up_to > after.max(joining.earlier_to) {
                return Joined::Missing { up_to };
            }
        }
        if !client.follow(&self.id) {
            return Joined::TooMany;
        }
        let is_new = state.follow(client, joining.extensions);
        joining.first.iter().for_each(|text| client.push(text.clone(), false));
        if is_new || joining.after.is_some() {
            state.send_pending(client, joining.after);
        }
        if let Some(after) = joining.after {
            state.send_again(client, after, joining);
        }
        Joined::Done
    }
}

impl RunState {
    /// Says whether it is new. Whoever has learned of the extensions does not forget them.
    fn follow(&mut self, client: &Arc<Client>, extensions: bool) -> bool {
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
                self.followers.push(Follower {
                    client: Arc::clone(client),
                    extensions,
                });
                true
            }
        }
    }

    /// What the run still waits for, unless it comes with the rest; so the numbers a client sees never go back.
    fn send_pending(&self, client: &Client, after: Option<u64>) {
        let comes_again = |frame: &Frame| after.is_some_and(|after| frame.seq > after);
        for pending in self.pending.iter().filter(|pending| !comes_again(&pending.frame)) {
            client.push(pending.frame.text.clone(), false);
        }
    }

    fn send_again(&self, client: &Client, after: u64, joining: &Joining) {
        let stored = joining
            .earlier
            .iter()
            .filter(|frame| frame.seq > after && frame.seq <= joining.earlier_to);
        for frame in stored.chain(self.ring.after(after.max(joining.earlier_to))) {
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
    use super::super::scene::{NOW, ask, heard, running, step, tell};
    use super::*;

    fn client() -> Arc<Client> {
        Arc::new(Client::new(1))
    }

    fn after(seq: u64) -> Joining {
        Joining {
            after: Some(seq),
            ..Joining::default()
        }
    }

    fn told(seqs: impl IntoIterator<Item = u64>) -> Vec<String> {
        seqs.into_iter().map(|seq| format!("{{\"seq\":{seq}}}")).collect()
    }

    #[test]
    fn what_waits_is_told_to_whoever_is_new_and_once() {
        let run = running("r", 0);
        let client = client();
        tell(&run, 1..=2);
        ask(&run, 3);
        run.join(&client, &Joining::default());
        assert_eq!(heard(&client), told([3]));
        run.join(&client, &Joining::default());
        assert!(heard(&client).is_empty(), "it follows already");
        run.join(&client, &after(3));
        assert_eq!(heard(&client), told([3]), "whoever names a number may have lost it");
        run.join(&client, &after(2));
        assert_eq!(heard(&client), told([3]), "asked for by number");
    }

    #[test]
    fn numbers_never_go_back_for_whoever_comes_back() {
        let run = running("r", 0);
        let client = client();
        ask(&run, 1);
        tell(&run, 2..=4);
        run.join(&client, &after(2));
        assert_eq!(heard(&client), told([1, 3, 4]));
        tell(&run, [5]);
        assert_eq!(heard(&client), told([5]));
    }

    #[test]
    fn an_ask_that_is_resolved_says_so_when_it_comes_again() {
        let run = running("r", 0);
        let client = client();
        let first = ask(&run, 1);
        ask(&run, 2);
        run.resolved(&first, NOW);
        run.join(&client, &after(0));
        assert_eq!(heard(&client), [r#"{"seq":1,"resolved":true}"#, r#"{"seq":2}"#]);
    }

    #[test]
    fn what_memory_does_not_hold_is_asked_for_and_put_before_the_rest() {
        let run = running("r", 5);
        let client = client();
        tell(&run, 6..=7);
        let mut joining = after(3);
        assert_eq!(run.join(&client, &joining), Joined::Missing { up_to: 5 });
        assert!(heard(&client).is_empty());
        joining.earlier = (4..=6).map(step).collect();
        joining.earlier_to = 5;
        assert_eq!(run.join(&client, &joining), Joined::Done);
        assert_eq!(heard(&client), told(4..=7), "the sixth is in both and comes once");
        assert_eq!(run.join(&client, &after(5)), Joined::Done);
    }

    #[test]
    fn the_end_of_an_ask_is_told_to_those_who_know_what_that_is() {
        let run = running("r", 0);
        let plain = client();
        let extended = Arc::new(Client::new(2));
        let id = ask(&run, 1);
        run.join(&plain, &after(1));
        run.join(
            &extended,
            &Joining {
                extensions: true,
                ..after(1)
            },
        );
        heard(&plain);
        heard(&extended);
        run.resolved(&id, NOW);
        assert!(heard(&plain).is_empty());
        let said = heard(&extended);
        assert!(
            said.len() == 1 && said[0].contains("input_resolved") && said[0].contains(r#""inputId":"1""#),
            "{said:?}"
        );
    }
}
