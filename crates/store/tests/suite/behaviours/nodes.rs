use countersign_core::access::Role;
use countersign_core::delivery::Track;
use countersign_protocol::id::MessageId;
use countersign_store::Store;
use countersign_store::clock::ManualClock;
use countersign_store::model::Claim;
use countersign_store::ops::credential::{Kind, NewCredential, Relabel};
use countersign_store::ops::node::{LABEL, LiveNodes, Others, TakeOver};
use countersign_store::ops::pull::Pull;
use countersign_store::ops::run::{AdoptRuns, Advance, AskInRun, Begun, EndRun, Ending, NewRun, RunsOfNode};
use futures_util::future::join_all;

use super::credentials::{add_person, authenticate, credential, person};
use crate::nodes::*;
use crate::outbox::*;
use crate::runs::{self, RUN, advance, begin, found_run, segment, step};
use crate::scene::*;

const RIVALS: [&str; 4] = ["node-2", "node-3", "node-4", "node-5"];

/// A node with a claim and a run under way.
async fn at_work(store: &Store, node: &str, number: u64) {
    enter(store, &[node]).await;
    owe(store, [number]).await;
    assert_eq!(claims_of(store, node).await.len(), 1);
    let run = NewRun {
        node: node.to_owned(),
        ..segment(&format!("run of {node}"), 1)
    };
    assert_eq!(begin(store, run).await, Begun::New);
}

fn message_ids(claims: Vec<Claim>) -> Vec<MessageId> {
    claims.into_iter().map(|claim| claim.message_id).collect()
}

async fn live(store: &Store) -> Vec<String> {
    store.run(LiveNodes).await.unwrap()
}

pub async fn a_node_that_renews_keeps_what_it_has(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    at_work(store, NODE, 1).await;
    enter(store, &[OTHER]).await;
    // The time of the claim itself is over; that is for whoever claims next, not for whoever takes over.
    for millis in [500, 1_500, 2_500] {
        clock.set(at(millis));
        assert!(renew(store, NODE).await);
        assert!(renew(store, OTHER).await);
        for glance in [look(OTHER), search(OTHER)] {
            assert_eq!(take_over(store, glance).await, Taken::default());
        }
    }
    clock.set(at(3_500));
    assert_eq!(
        take_over(store, search(OTHER)).await,
        Taken::default(),
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

pub async fn a_node_whose_lease_ran_out_loses_everything_once(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    at_work(store, NODE, 1).await;
    clock.set(at(1_001));
    enter(store, &RIVALS).await;
    let taken = join_all(RIVALS.iter().map(|rival| take_over(store, look(rival)))).await;
    let winners: Vec<_> = RIVALS
        .iter()
        .zip(taken)
        .filter(|(_, taken)| *taken != Taken::default())
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
        (found.track, found.attempts, found.next_attempt_at),
        (Track::Pending, 0, Some(at(1_001)))
    );
    assert_eq!(message_ids(claims_of(store, winner).await), [message_id(1)]);
    assert_eq!(
        take_over(store, search(RIVALS[0])).await,
        Taken::default(),
        "nothing is left to take"
    );
    assert!(advance(store, step_of(winner)).await);
}

pub async fn a_node_that_was_removed_hears_of_it_when_it_renews(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    at_work(store, NODE, 1).await;
    clock.set(at(1_001));
    assert!(
        renew(store, NODE).await,
        "while nobody noticed, all of it is still its own"
    );
    clock.set(at(2_002));
    enter(store, &[OTHER]).await;
    let removed = take_over(
        store,
        Glance {
            limit: 0,
            ..look(OTHER)
        },
    )
    .await
    .removed;
    assert_eq!(removed, [NODE]);
    for _ in 0..2 {
        assert!(!renew(store, NODE).await, "its id is nobody's for ever");
        let itself = TakeOver {
            node: NODE.to_owned(),
            lease: NODE_LEASE,
            others: Others::AreGone,
            thorough: true,
        };
        assert_eq!(store.run(itself).await.unwrap(), None);
    }
    assert_eq!(live(store).await, [OTHER], "it has removed nobody");
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
        "nobody removes itself"
    );
}

pub async fn whoever_was_late_itself_removes_only_those_who_left(store: &Store, clock: &ManualClock) {
    let glance = |others| TakeOver {
        node: NODE.to_owned(),
        lease: NODE_LEASE,
        others,
        thorough: false,
    };
    enter(store, &[NODE, OTHER, "left"]).await;
    leave(store, "left").await;
    // Half of its lease and more: whatever kept it may have kept the others.
    clock.set(at(1_100));
    let taken = store.run(glance(Others::Live)).await.unwrap().unwrap();
    assert!(taken.was_late);
    assert_eq!(taken.removed, ["left"]);
    clock.set(at(1_500));
    let taken = store.run(glance(Others::MayComeBack)).await.unwrap().unwrap();
    assert_eq!(
        (taken.was_late, taken.removed),
        (false, Vec::new()),
        "it gives the others their time"
    );
    let taken = store.run(glance(Others::Live)).await.unwrap().unwrap();
    assert_eq!(taken.removed, [OTHER], "and then no more");
}

pub async fn a_node_finds_its_runs_again(store: &Store, _clock: &ManualClock) {
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
        Begun::New
    );
    assert_eq!(begin(store, segment("over", 1)).await, Begun::New);
    assert!(runs::end(store, "over", 5).await);
    let step = step(RUN);
    let write_id = step.write_id.clone();
    assert!(advance(store, step).await);
    let found = store.run(RunsOfNode { node: NODE.to_owned() }).await.unwrap();
    assert_eq!(found, [(RUN.to_owned(), write_id)]);
}

pub async fn a_node_that_was_removed_claims_nothing(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    enter(store, &[NODE]).await;
    owe(store, [1]).await;
    clock.set(at(1_001));
    enter(store, &[OTHER]).await;
    assert_eq!(take_over(store, look(OTHER)).await.removed, [NODE]);
    assert!(
        claims_of(store, NODE).await.is_empty(),
        "what it took would be nobody's"
    );
    assert_eq!(message_ids(claims_of(store, OTHER).await), [message_id(1)]);
}

pub async fn while_others_may_come_back_only_those_that_left_are_gone(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    at_work(store, NODE, 1).await;
    clock.set(at(1_000_000));
    enter(store, &[OTHER]).await;
    let waiting = || Glance {
        others: Others::MayComeBack,
        ..search(OTHER)
    };
    assert_eq!(
        take_over(store, waiting()).await,
        Taken::default(),
        "however long ago its lease ran out"
    );
    assert!(advance(store, step_of(NODE)).await, "all of it is still its own");
    leave(store, NODE).await;
    let taken = take_over(store, waiting()).await;
    assert_eq!(taken.removed, [NODE]);
    assert_eq!(run_ids(&taken.runs), [format!("run of {NODE}")]);
}

pub async fn a_node_that_leaves_gives_its_claims_back_at_once(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    at_work(store, OTHER, 1).await;
    enter(store, &[NODE]).await;
    owe(store, [2, 3, 4]).await;
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
    assert_eq!(delivery(store, 4).await.track, Track::Failed);
    assert_eq!(
        message_ids(claims_of(store, OTHER).await),
        [message_id(2)],
        "and what is another's stays so"
    );
    assert!(!settle(store, &claims[0], failed()).await);
    leave(store, NODE).await;
    assert_eq!(message_ids(claims_of(store, OTHER).await), [], "once");
}

pub async fn whoever_looks_next_takes_the_runs_of_a_node_that_left(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    at_work(store, NODE, 1).await;
    enter(store, &[OTHER]).await;
    assert_eq!(take_over(store, look(OTHER)).await, Taken::default());
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

pub async fn where_one_is_alone_every_other_node_is_gone(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    at_work(store, NODE, 1).await;
    clock.set(at(1));
    enter(store, &["alone"]).await;
    assert_eq!(
        take_over(store, search("alone")).await,
        Taken::default(),
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

pub async fn a_credential_of_a_node_ends_with_it(store: &Store, clock: &ManualClock) {
    assert!(add_person(store, "owner", Role::Owner, "owner token").await);
    let add = async |token: &str, label: String| {
        let credential = credential(Kind::Person, "owner", token, None);
        store.run(Relabel(NewCredential { label, ..credential })).await.unwrap();
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
        "whoever fell silent may be back in a moment"
    );
    leave(store, OTHER).await;
    assert!(!is_valid(OTHER).await, "whoever left will not");
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

pub async fn so_many_runs_are_adopted_at_once_and_the_rest_next_time(store: &Store, _clock: &ManualClock) {
    for run_id in ["b", "a", "e", "d", "c"] {
        assert_eq!(begin(store, segment(run_id, 1)).await, Begun::New);
    }
    assert!(runs::end(store, "a", 5).await);
    enter(store, &[OTHER]).await;
    let two = || Glance {
        limit: 2,
        ..search(OTHER)
    };
    let first = take_over(store, two()).await.runs;
    assert_eq!(
        run_ids(&first),
        ["b", "e"],
        "the oldest first; what has ended is nobody's to go on with"
    );
    assert_eq!(first[0], found_run(store, "b").await.run);
    assert_eq!(run_ids(&take_over(store, two()).await.runs), ["d", "c"]);
    assert!(take_over(store, two()).await.runs.is_empty());
}

pub async fn while_all_nodes_live_only_a_thorough_look_finds_what_nobody_has(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    at_work(store, NODE, 1).await;
    clock.set(at(1_001));
    enter(store, &[OTHER, "node-3"]).await;
    // One that removed the node, and got no further than this.
    let cut = Glance {
        limit: 0,
        ..look("node-3")
    };
    assert_eq!(take_over(store, cut).await.removed, [NODE]);
    assert_eq!(take_over(store, look(OTHER)).await, Taken::default());
    assert_eq!(
        run_ids(&take_over(store, search(OTHER)).await.runs),
        [format!("run of {NODE}")]
    );
}

pub async fn what_a_lost_node_still_writes_changes_nothing(store: &Store, clock: &ManualClock) {
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
                    ending: Ending::Error,
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
