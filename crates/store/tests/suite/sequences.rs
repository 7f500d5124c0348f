//! Property tests: random sequences of operations, compared with a reference model.

use countersign_core::message::Status;
use countersign_core::{Command, Verdict};
use countersign_protocol::a2h::Kind;
use countersign_store::Store;
use countersign_store::clock::ManualClock;
use countersign_store::model::{ApplyOutcome, Lookup, Submission};
use countersign_store::ops::list::History;
use countersign_store::ops::message::pull::Pull;
use countersign_store::ops::message::sweep::{ExpireDue, NextExpiry, Purge};
use proptest::prelude::*;
use proptest::sample::select;

use crate::model::{Act, Effect, Known, MAX_OPEN, Model, Step};
use crate::scene::*;

const AGENTS: [&str; 2] = [BUILDER, TESTER];

pub fn steps() -> impl Strategy<Value = Vec<Step>> {
    prop::collection::vec(step(), 1..60)
}

fn step() -> impl Strategy<Value = Step> {
    let kind = prop_oneof![4 => Just(Kind::Ask), 2 => Just(Kind::Task), 1 => Just(Kind::Notify)];
    let key = prop::option::of(select(vec!["a", "b", "c"]));
    let life = prop::option::of(0..60_i64);
    let submit = (select(AGENTS.to_vec()), kind, life, key, 0..2_u8).prop_map(|(agent, kind, life, key, variant)| {
        Step::Submit {
            agent,
            kind,
            life,
            key,
            variant,
        }
    });
    let act = prop_oneof![
        4 => Just(Act::Finish),
        1 => Just(Act::Misfit),
        2 => Just(Act::Cancel),
        2 => Just(Act::Expire),
    ];
    prop_oneof![
        5 => submit,
        5 => (0..12_usize, act).prop_map(|(on, act)| Step::Act { on, act }),
        1 => (0..80_i64).prop_map(|age| Step::Purge { age }),
        1 => Just(Step::Sweep),
        3 => (1..40_i64).prop_map(Step::Wait),
    ]
}

fn command(kind: Kind, act: Act) -> Command {
    match (act, kind) {
        (Act::Cancel, _) => Command::Cancel,
        (Act::Expire, _) => Command::Expire,
        (Act::Finish, Kind::Task) | (Act::Misfit, Kind::Ask) => by_alice(Verdict::Completed(None)),
        (Act::Finish, Kind::Ask | Kind::Notify) | (Act::Misfit, Kind::Task | Kind::Notify) => answer("approve"),
    }
}

/// A store and a model that run the same steps.
struct Pair<'s> {
    store: &'s Store,
    clock: &'s ManualClock,
    model: Model,
    tried: u64,
}

impl Pair<'_> {
    async fn take(&mut self, step: Step) -> Result<(), TestCaseError> {
        match step {
            Step::Submit {
                agent,
                kind,
                life,
                key,
                variant,
            } => {
                self.tried += 1;
                let status = if kind == Kind::Notify {
                    Status::Delivered
                } else {
                    Status::Open
                };
                let expires_at = life.map(|life| self.model.now + life);
                let ended_at = (kind == Kind::Notify).then_some(0);
                let number = self.tried;
                let known = Known {
                    number,
                    agent,
                    kind,
                    status,
                    expires_at,
                    ended_at,
                    key,
                    variant,
                    gone: false,
                };
                self.submit(known).await
            }
            Step::Act { on, act } => self.act(on, act).await,
            Step::Purge { age } => {
                let before = self.model.now - age;
                let purge = Purge {
                    resolved_before: at(before),
                    limit: 1_000,
                };
                let emptied = self.store.run(purge).await.unwrap();
                prop_assert_eq!(emptied, self.model.purge(before));
                Ok(())
            }
            Step::Sweep => {
                let resolution_ids = (0..100).map(|_| resolution_id()).collect();
                let due = ExpireDue {
                    resolution_ids,
                    skipped: Vec::new(),
                };
                let expired = self.store.run(due).await.unwrap().applied;
                let mut ended: Vec<_> = expired.into_iter().map(|applied| applied.view.id).collect();
                ended.sort();
                prop_assert_eq!(
                    ended,
                    self.model.sweep().into_iter().map(message_id).collect::<Vec<_>>()
                );
                Ok(())
            }
            Step::Wait(millis) => {
                self.model.now += millis;
                self.clock.set(at(self.model.now));
                Ok(())
            }
        }
    }

    async fn submit(&mut self, known: Known) -> Result<(), TestCaseError> {
        let max_open = i64::try_from(MAX_OPEN).unwrap();
        let answer: Submission = submit_within(self.store, &known.draft(), max_open).await;
        prop_assert_eq!(answer, self.model.submit(known));
        Ok(())
    }

    async fn act(&mut self, on: usize, act: Act) -> Result<(), TestCaseError> {
        let known = self.model.messages.get(on);
        let (number, kind) = known.map_or((999, Kind::Ask), |known| (known.number, known.kind));
        let effect = match apply(self.store, &message_id(number), command(kind, act)).await {
            ApplyOutcome::NotFound => Effect::NotFound,
            ApplyOutcome::Purged => Effect::Gone,
            ApplyOutcome::Rejected(_) => Effect::Refused,
            ApplyOutcome::Resolved(applied) => Effect::Ended(applied.resolution.outcome),
        };
        prop_assert_eq!(effect, self.model.act(on, act));
        Ok(())
    }
}

/// Compares every message, counter and list with the model.
pub async fn compare(store: &Store, model: &Model) -> Result<(), TestCaseError> {
    for known in &model.messages {
        let message = match store.run(Pull(message_id(known.number))).await.unwrap() {
            Some(Lookup::Present(view)) => Some(view.state.status()),
            Some(Lookup::Purged { .. }) => None,
            None => return Err(TestCaseError::fail(format!("{known:?} is lost"))),
        };
        prop_assert_eq!(message, (!known.gone).then_some(known.status), "{:?}", known);
    }
    for agent in AGENTS {
        let counted = open_count(store, agent).await;
        prop_assert_eq!(
            counted,
            i64::try_from(model.open_of(agent)).unwrap(),
            "open of {}",
            agent
        );
    }
    compare_lists(store, model).await
}

async fn compare_lists(store: &Store, model: &Model) -> Result<(), TestCaseError> {
    let waiting = store.run(inbox(None, 1_000)).await.unwrap().items;
    prop_assert_eq!(
        ids(&waiting),
        model.inbox().into_iter().map(message_id).collect::<Vec<_>>()
    );
    let history = History {
        agent_id: None,
        status: None,
        before: None,
        limit: 1_000,
    };
    let listed = store.run(history).await.unwrap().len();
    prop_assert_eq!(listed, model.messages.iter().filter(|known| !known.gone).count());
    prop_assert_eq!(store.run(NextExpiry::default()).await.unwrap(), model.next_expiry());
    Ok(())
}

/// Starts with an empty store, and returns the model that describes its final state.
pub async fn run_steps(store: &Store, clock: &ManualClock, steps: Vec<Step>) -> Result<Model, TestCaseError> {
    for agent in AGENTS {
        add_agent(store, agent).await;
    }
    let mut pair = Pair {
        store,
        clock,
        model: Model::default(),
        tried: 0,
    };
    for step in steps {
        pair.take(step).await?;
        compare(store, &pair.model).await?;
    }
    Ok(pair.model)
}
