use countersign_core::access::Role;
use countersign_core::delivery::DeliveryState;
use countersign_protocol::id::MessageId;
use countersign_store::Store;
use countersign_store::clock::ManualClock;
use countersign_store::model::Claim;
use countersign_store::ops::account::credential::{CredentialKind, NewCredential, ReplaceCredential};
use countersign_store::ops::message::pull::Pull;
use countersign_store::ops::node::{CountLeases, GoneNodes, LABEL, LeaseCounts, LiveNodes, TakeOver};
use countersign_store::ops::run::{AdoptRuns, Advance, AskInRun, BeginOutcome, EndRun, NewRun, RunEnding, RunsOfNode};
use futures_util::future::join_all;

use super::credentials::{add_person, authenticate, credential, person};
use crate::nodes::*;
use crate::outbox::*;
use crate::runs::{self, RUN, advance, begin, found_run, segment, step};
use crate::scene::*;

const RIVALS: [&str; 4] = ["node-2", "node-3", "node-4", "node-5"];

/// A node with one claim and one run.
async fn at_work(store: &Store, node: &str, number: u64) {
    enter(store, &[node]).await;
    enqueue_deliveries(store, [number]).await;
    assert_eq!(claims_of(store, node).await.len(), 1);
    let run = NewRun {
        node: node.to_owned(),
        ..segment(&format!("run of {node}"), 1)
    };
    assert_eq!(begin(store, run).await, BeginOutcome::New);
}

fn message_ids(claims: Vec<Claim>) -> Vec<MessageId> {
    claims.into_iter().map(|claim| claim.message_id).collect()
}

async fn live(store: &Store) -> Vec<String> {
    store.run(LiveNodes).await.unwrap()
}

/// Nodes with a valid lease, and claimed deliveries.
async fn leases(store: &Store) -> (i64, i64) {
    let LeaseCounts {
        nodes,
        claimed_deliveries,
    } = store.run(CountLeases).await.unwrap();
    (nodes, claimed_deliveries)
}

pub async fn node_that_renews_keeps_its_claims_and_runs(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    at_work(store, NODE, 1).await;
    enter(store, &[OTHER]).await;
    assert_eq!(leases(store).await, (2, 1));
    // The claim's own lease is over, which matters to the next claim, not to a take-over.
    for millis in [500, 1_500, 2_500] {
        clock.set(at(millis));
        assert!(renew(store, NODE).await);
        assert!(renew(store, OTHER).await);
        for request in [look(OTHER), search(OTHER)] {
            assert_eq!(take_over(store, request).await, TakeOverResult::default());
        }
    }
    clock.set(at(3_500));
    assert_eq!(
        take_over(store, search(OTHER)).await,
        TakeOverResult::default(),
        "up to its last instant"
    );
    assert!(advance(store, step_of(NODE)).await);
    assert_eq!(live(store).await, [NODE, OTHER]);
}

fn step_of(node: &str) -> Advance {
    Advance {
        node: node.to_owned(),
        ..step(&format!("run of {NODE}"))
    }
}

pub async fn expired_node_loses_its_claims_and_runs_once(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    at_work(store, NODE, 1).await;
    clock.set(at(1_001));
    assert_eq!(leases(store).await, (0, 1));
    enter(store, &RIVALS).await;
    let taken = join_all(RIVALS.iter().map(|rival| take_over(store, look(rival)))).await;
    let winners: Vec<_> = RIVALS
        .iter()
        .zip(taken)
        .filter(|(_, taken)| *taken != TakeOverResult::default())
        .collect();
    let [(winner, taken)] = winners.as_slice() else {
        panic!("one takes over, not {winners:?}")
    };
    assert_eq!(
        (taken.removed.as_slice(), taken.hosts.as_slice()),
        (&[NODE.to_owned()][..], &[HOST.to_owned()][..])
    );
    assert_eq!(
        taken.runs,
        [found_run(store, &format!("run of {NODE}")).await.run],
        "as it stands from now on"
    );
    assert_eq!(taken.runs[0].node, **winner);
    assert_eq!(live(store).await, RIVALS);
    let found = delivery(store, 1).await;
    assert_eq!(
        (found.state, found.attempts, found.next_attempt_at),
        (DeliveryState::Pending, 0, Some(at(1_001)))
    );
    assert_eq!(message_ids(claims_of(store, winner).await), [message_id(1)]);
    assert_eq!(
        take_over(store, search(RIVALS[0])).await,
        TakeOverResult::default(),
        "nothing is left to take"
    );
    assert!(advance(store, step_of(winner)).await);
}

pub async fn removed_node_learns_it_when_it_renews(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    at_work(store, NODE, 1).await;
    clock.set(at(1_001));
    assert!(
        renew(store, NODE).await,
        "until the expiry is noticed, the node keeps everything"
    );
    clock.set(at(2_002));
    enter(store, &[OTHER]).await;
    let removed = take_over(
        store,
        TakeOverRequest {
            limit: 0,
            ..look(OTHER)
        },
    )
    .await
    .removed;
    assert_eq!(removed, [NODE]);
    for _ in 0..2 {
        assert!(!renew(store, NODE).await, "its id is never valid again");
        let itself = TakeOver {
            node: NODE.to_owned(),
            lease: NODE_LEASE,
            others: GoneNodes::All,
            thorough: true,
        };
        assert_eq!(store.run(itself).await.unwrap(), None);
    }
    assert_eq!(live(store).await, [OTHER], "it has removed no node");
    let taken = store
        .run(AdoptRuns {
            node: NODE.to_owned(),
            limit: NO_LIMIT,
        })
        .await
        .unwrap();
    assert!(taken.runs.is_empty(), "and takes nothing, not even what was its own");
    clock.set(at(3_003));
    assert_eq!(
        take_over(store, start_alone(OTHER)).await.removed,
        Vec::<String>::new(),
        "a node does not remove itself"
    );
}

pub async fn late_node_removes_only_departed_nodes(store: &Store, clock: &ManualClock) {
    let request = |others| TakeOver {
        node: NODE.to_owned(),
        lease: NODE_LEASE,
        others,
        thorough: false,
    };
    enter(store, &[NODE, OTHER, "left"]).await;
    leave(store, "left").await;
    // More than half of its lease late: the cause may have delayed the other nodes too.
    clock.set(at(1_100));
    let taken = store.run(request(GoneNodes::LeaseExpired)).await.unwrap().unwrap();
    assert!(taken.was_late);
    assert_eq!(taken.removed, ["left"]);
    clock.set(at(1_500));
    let taken = store.run(request(GoneNodes::Departed)).await.unwrap().unwrap();
    assert_eq!(
        (taken.was_late, taken.removed),
        (false, Vec::new()),
        "it gives the others their time"
    );
    let taken = store.run(request(GoneNodes::LeaseExpired)).await.unwrap().unwrap();
    assert_eq!(taken.removed, [OTHER], "and then no more");
}

pub async fn node_finds_its_runs_again(store: &Store, _clock: &ManualClock) {
    enter(store, &[NODE, OTHER]).await;
    runs::begun(store).await;
    assert_eq!(
        begin(
            store,
            NewRun {
                node: OTHER.to_owned(),
                ..segment("another's", 1)
            }
        )
        .await,
        BeginOutcome::New
    );
    assert_eq!(begin(store, segment("over", 1)).await, BeginOutcome::New);
    assert!(runs::end(store, "over", 5).await);
    let step = step(RUN);
    let write_id = step.write_id.clone();
    assert!(advance(store, step).await);
    let found = store.run(RunsOfNode { node: NODE.to_owned() }).await.unwrap();
    assert_eq!(found, [(RUN.to_owned(), write_id)]);
}

pub async fn removed_node_claims_nothing(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    enter(store, &[NODE]).await;
    enqueue_deliveries(store, [1]).await;
    clock.set(at(1_001));
    enter(store, &[OTHER]).await;
    assert_eq!(take_over(store, look(OTHER)).await.removed, [NODE]);
    assert!(claims_of(store, NODE).await.is_empty(), "its claim would have no owner");
    assert_eq!(message_ids(claims_of(store, OTHER).await), [message_id(1)]);
}

pub async fn departed_policy_removes_only_departed_nodes(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    at_work(store, NODE, 1).await;
    clock.set(at(1_000_000));
    enter(store, &[OTHER]).await;
    let waiting = || TakeOverRequest {
        others: GoneNodes::Departed,
        ..search(OTHER)
    };
    assert_eq!(
        take_over(store, waiting()).await,
        TakeOverResult::default(),
        "however long ago its lease ran out"
    );
    assert!(advance(store, step_of(NODE)).await, "all of it is still its own");
    leave(store, NODE).await;
    let taken = take_over(store, waiting()).await;
    assert_eq!(taken.removed, [NODE]);
    assert_eq!(run_ids(&taken.runs), [format!("run of {NODE}")]);
}

pub async fn leaving_node_releases_its_claims_at_once(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    at_work(store, OTHER, 1).await;
    enter(store, &[NODE]).await;
    enqueue_deliveries(store, [2, 3, 4]).await;
    let claims = claims_of(store, NODE).await;
    assert!(settle(store, &claims[1], retry(5_000)).await);
    assert!(settle(store, &claims[2], failed()).await);
    clock.set(at(10));
    leave(store, NODE).await;
    let given_back = delivery(store, 2).await;
    assert_eq!(
        (given_back.attempts, given_back.next_attempt_at),
        (0, Some(at(10))),
        "what was cut is no attempt"
    );
    assert_eq!(
        delivery(store, 3).await.next_attempt_at,
        Some(at(5_000)),
        "a retry keeps its time"
    );
    assert_eq!(delivery(store, 4).await.state, DeliveryState::Failed);
    assert_eq!(
        message_ids(claims_of(store, OTHER).await),
        [message_id(2)],
        "and what is another's stays so"
    );
    assert!(!settle(store, &claims[0], failed()).await);
    leave(store, NODE).await;
    assert_eq!(message_ids(claims_of(store, OTHER).await), [], "once");
}

pub async fn next_take_over_adopts_the_runs_of_a_departed_node(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    at_work(store, NODE, 1).await;
    enter(store, &[OTHER]).await;
    assert_eq!(take_over(store, look(OTHER)).await, TakeOverResult::default());
    leave(store, NODE).await;
    let taken = take_over(store, look(OTHER)).await;
    assert_eq!(
        (taken.removed, taken.hosts),
        (vec![NODE.to_owned()], Vec::new()),
        "its claims were given back before"
    );
    assert_eq!(run_ids(&taken.runs), [format!("run of {NODE}")]);
    assert!(!advance(store, step_of(NODE)).await);
    assert_eq!(live(store).await, [OTHER]);
}

pub async fn sole_node_removes_every_other_node(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    at_work(store, NODE, 1).await;
    clock.set(at(1));
    enter(store, &["alone"]).await;
    assert_eq!(
        take_over(store, search("alone")).await,
        TakeOverResult::default(),
        "its lease has not run out"
    );
    let taken = take_over(store, start_alone("alone")).await;
    assert_eq!(
        (taken.removed, taken.hosts),
        (vec![NODE.to_owned()], vec![HOST.to_owned()])
    );
    assert_eq!(run_ids(&taken.runs), [format!("run of {NODE}")]);
    assert_eq!(live(store).await, ["alone"]);
    assert_eq!(message_ids(claims_of(store, "alone").await), [message_id(1)]);
}

pub async fn credentials_of_a_node_end_with_it(store: &Store, clock: &ManualClock) {
    assert!(add_person(store, "owner", Role::Owner, "owner token").await);
    let add = async |token: &str, label: String| {
        let credential = credential(CredentialKind::Person, "owner", token, None);
        store
            .run(ReplaceCredential(NewCredential { label, ..credential }))
            .await
            .unwrap();
    };
    enter(store, &[NODE, OTHER]).await;
    for node in [NODE, OTHER] {
        add(node, format!("{LABEL}{node}")).await;
    }
    for label in ["start", "starting", "start-up", "Start node-9", "restart node-9"] {
        add(label, label.to_owned()).await;
    }
    let is_valid = async |token: &str| authenticate(store, token).await == person("owner", Role::Owner);
    take_over(store, search(OTHER)).await;
    assert!(is_valid(NODE).await && is_valid(OTHER).await, "while both live");
    clock.set(at(1_001));
    assert!(renew(store, OTHER).await);
    take_over(store, look(OTHER)).await;
    assert!(
        is_valid(NODE).await && is_valid(OTHER).await,
        "an expired node may come back"
    );
    leave(store, OTHER).await;
    assert!(!is_valid(OTHER).await, "a departed node will not");
    enter(store, &["node-3"]).await;
    clock.set(at(1_001 + 3_600_000));
    assert!(is_valid(NODE).await);
    clock.set(at(1_002 + 3_600_000));
    assert!(!is_valid(NODE).await, "for an hour");
    take_over(store, search("node-3")).await;
    clock.set(at(1_001));
    assert!(!is_valid(NODE).await, "and is forgotten then");
    for label in [
        "start",
        "starting",
        "start-up",
        "Start node-9",
        "restart node-9",
        "owner token",
    ] {
        assert!(is_valid(label).await, "{label} is no node's");
    }
}

pub async fn adoption_is_limited_and_the_rest_follows_next_time(store: &Store, _clock: &ManualClock) {
    for run_id in ["b", "a", "e", "d", "c"] {
        assert_eq!(begin(store, segment(run_id, 1)).await, BeginOutcome::New);
    }
    assert!(runs::end(store, "a", 5).await);
    enter(store, &[OTHER]).await;
    let two = || TakeOverRequest {
        limit: 2,
        ..search(OTHER)
    };
    let first = take_over(store, two()).await.runs;
    assert_eq!(run_ids(&first), ["b", "e"], "the oldest first, without ended runs");
    assert_eq!(first[0], found_run(store, "b").await.run);
    assert_eq!(run_ids(&take_over(store, two()).await.runs), ["d", "c"]);
    assert!(take_over(store, two()).await.runs.is_empty());
}

pub async fn only_a_thorough_take_over_finds_orphans_while_all_nodes_live(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    at_work(store, NODE, 1).await;
    clock.set(at(1_001));
    enter(store, &[OTHER, "node-3"]).await;
    // A take-over that removed the node and was then interrupted.
    let cut = TakeOverRequest {
        limit: 0,
        ..look("node-3")
    };
    assert_eq!(take_over(store, cut).await.removed, [NODE]);
    assert_eq!(take_over(store, look(OTHER)).await, TakeOverResult::default());
    assert_eq!(
        run_ids(&take_over(store, search(OTHER)).await.runs),
        [format!("run of {NODE}")]
    );
}

pub async fn writes_of_a_removed_node_are_fenced(store: &Store, clock: &ManualClock) {
    enter(store, &[NODE]).await;
    runs::begun(store).await;
    runs::asked(store, &[1]).await;
    clock.set(at(1_001));
    enter(store, &[OTHER]).await;
    assert_eq!(run_ids(&take_over(store, look(OTHER)).await.runs), [RUN]);
    let before = found_run(store, RUN).await;
    let late = || Advance {
        events: vec![runs::event(9)],
        records: vec!["late".to_owned()],
        asks_done: vec![message_id(1)],
        body: Some("late".to_owned()),
        last_seq: 9,
        ..step(RUN)
    };
    for round in ["while it is away", "and when it is back"] {
        assert!(!advance(store, late()).await, "{round}");
        assert!(
            !store
                .run(AskInRun {
                    advance: late(),
                    asks: vec![runs::ask(2)]
                })
                .await
                .unwrap(),
            "{round}"
        );
        assert!(
            !store
                .run(EndRun {
                    advance: late(),
                    ending: RunEnding::Error,
                    at: at(9)
                })
                .await
                .unwrap(),
            "{round}"
        );
        assert_eq!(found_run(store, RUN).await, before);
        assert!(runs::events_after(store, RUN, 0).await.is_empty());
        assert_eq!(runs::waiting_for(store, RUN).await.len(), 1);
        assert!(store.run(Pull(message_id(2))).await.unwrap().is_none());
        renew(store, NODE).await;
    }
    assert!(
        advance(
            store,
            Advance {
                node: OTHER.to_owned(),
                ..late()
            }
        )
        .await,
        "the next node writes instead"
    );
}
