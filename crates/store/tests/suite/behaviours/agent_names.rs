use std::time::Duration;

use countersign_core::{Command, Verdict};
use countersign_store::Store;
use countersign_store::clock::ManualClock;
use countersign_store::ops::agent::{
    AgentFigures, AgentOverview, AgentOverviewOf, FiguresOf, ListAgentOverviews, RenameAgent, RenameOutcome,
};
use countersign_store::ops::list::History;
use countersign_store::ops::message::audit::Trail;

use super::terminals::remove_agent;
use crate::cues::*;
use crate::scene::*;

async fn rename(store: &Store, id: &str, name: Option<&str>) -> RenameOutcome {
    let op = RenameAgent {
        id: id.to_owned(),
        name: name.map(str::to_owned),
        actor: OWNER.to_owned(),
    };
    store.run(op).await.unwrap()
}

async fn overview(store: &Store, id: &str) -> Option<AgentOverview> {
    let agent_id = id.to_owned();
    store.run(AgentOverviewOf { agent_id }).await.unwrap()
}

async fn name(store: &Store, id: &str) -> String {
    overview(store, id).await.expect("the agent is there").name
}

fn renamed(name: &str) -> RenameOutcome {
    RenameOutcome::Renamed(name.to_owned())
}

pub async fn agents_of_one_person_that_look_alike_are_numbered(store: &Store, _clock: &ManualClock) {
    add_people(store).await;
    for (id, person, expected) in [
        (ZOBAL, "alice", "Codex · bridge"),
        ("second", "alice", "Codex · bridge · 2"),
        ("other", "bob", "Codex · bridge"),
        ("third", "alice", "Codex · bridge · 3"),
    ] {
        assert!(join(store, id, person).await);
        assert_eq!(name(store, id).await, expected);
        assert_eq!(summary(store, id).await.expect("it is listed").name, expected);
    }
    remove_agent(store, "second").await;
    assert!(join(store, "fourth", "alice").await);
    assert_eq!(name(store, "fourth").await, "Codex · bridge · 2");
    assert_eq!(name(store, "third").await, "Codex · bridge · 3", "a name does not move");
}

pub async fn name_given_by_hand_wins_and_can_be_taken_back(store: &Store, _clock: &ManualClock) {
    add_people(store).await;
    add_agent(store, BUILDER).await;
    assert!(join(store, ZOBAL, "alice").await);
    assert_eq!(rename(store, ZOBAL, Some("Bridge")).await, renamed("Bridge"));
    assert_eq!(
        rename(store, BUILDER, Some("The builder")).await,
        renamed("The builder")
    );
    let found = overview(store, ZOBAL).await.expect("it is there");
    assert_eq!(
        (found.name.as_str(), found.given_name.as_deref()),
        ("Bridge", Some("Bridge"))
    );
    assert!(join(store, "second", "alice").await);
    assert_eq!(
        name(store, "second").await,
        "Codex · bridge · 2",
        "the automatic name stays reserved"
    );
    assert_eq!(rename(store, ZOBAL, None).await, renamed("Codex · bridge"));
    assert_eq!(rename(store, BUILDER, None).await, renamed(BUILDER));
    let subject = format!("agent:{ZOBAL}");
    let trail = store.run(Trail { subject }).await.unwrap();
    assert_eq!(trail.last().expect("a record").entry.event, "agent.renamed");
}

pub async fn name_or_id_of_another_agent_is_refused(store: &Store, _clock: &ManualClock) {
    add_people(store).await;
    add_agent(store, BUILDER).await;
    add_agent(store, TESTER).await;
    assert!(join(store, ZOBAL, "alice").await && join(store, "second", "alice").await);
    assert_eq!(rename(store, BUILDER, Some("Robot")).await, renamed("Robot"));
    for name in ["Robot", BUILDER, ZOBAL] {
        assert_eq!(rename(store, TESTER, Some(name)).await, RenameOutcome::Taken, "{name}");
    }
    assert_eq!(
        rename(store, "second", Some("Codex · bridge")).await,
        RenameOutcome::Taken
    );
    assert_eq!(
        rename(store, BUILDER, Some("Robot")).await,
        renamed("Robot"),
        "its own name"
    );
    assert_eq!(rename(store, "missing", Some("x")).await, RenameOutcome::NoSuchAgent);
    assert_eq!(name(store, TESTER).await, TESTER);
}

pub async fn messages_carry_the_name_of_their_agent(store: &Store, _clock: &ManualClock) {
    add_people(store).await;
    add_agent(store, BUILDER).await;
    created(store, cue(1, "Ship it?")).await;
    submitted(store, &Draft::ask(2)).await;
    rename(store, BUILDER, Some("The builder")).await;
    let names = async || {
        let page = store.run(inbox(None, 9)).await.unwrap();
        let mut names: Vec<_> = page.items.into_iter().map(|item| item.unwrap().agent_name).collect();
        names.sort();
        names
    };
    assert_eq!(names().await, ["Codex · bridge", "The builder"]);
    assert_eq!(viewed(store, &message_id(2)).await.agent_name, "The builder");
    remove_agent(store, ZOBAL).await;
    remove_agent(store, BUILDER).await;
    assert_eq!(
        names().await,
        ["Codex · bridge", BUILDER],
        "what is known of a removed agent stays"
    );
    let of_agent = History {
        agent_id: Some(ZOBAL.to_owned()),
        status: None,
        before: None,
        limit: 9,
    };
    let found = store.run(of_agent).await.unwrap();
    assert_eq!(found[0].as_ref().unwrap().agent_name, "Codex · bridge");
}

pub async fn all_agents_are_listed_with_their_state(store: &Store, clock: &ManualClock) {
    add_people(store).await;
    add_agent(store, BUILDER).await;
    clock.set(at(1000));
    assert!(join(store, ZOBAL, "alice").await);
    typed_ahead(store, "go on").await;
    submitted(store, &Draft::ask(1)).await;
    let all = store.run(ListAgentOverviews { limit: 9 }).await.unwrap();
    let shown: Vec<_> = all
        .iter()
        .map(|agent| (agent.agent_id.as_str(), agent.open, agent.ahead))
        .collect();
    assert_eq!(shown, [(ZOBAL, 0, 1), (BUILDER, 1, 0)]);
    let residence = all[0].residence.as_ref().expect("it is in a terminal");
    assert_eq!(
        (residence.person.as_str(), residence.runtime.as_str()),
        ("alice", "codex")
    );
    assert_eq!(all[1].residence, None);
    assert_eq!(store.run(ListAgentOverviews { limit: 1 }).await.unwrap().len(), 1);
    assert_eq!(overview(store, "missing").await, None);
}

pub async fn figures_count_the_decisions_since_a_time(store: &Store, clock: &ManualClock) {
    add_people(store).await;
    add_agent(store, BUILDER).await;
    let figures = async |since| {
        let agent_id = BUILDER.to_owned();
        store.run(FiguresOf { agent_id, since }).await.unwrap()
    };
    assert_eq!(figures(at(0)).await, AgentFigures::default());
    for number in 1..=6 {
        submitted(store, &Draft::ask(number)).await;
    }
    submitted(store, &Draft::task(7)).await;
    for (seconds, (number, command)) in [10, 20, 30, 40, 50].into_iter().zip([
        (1, answer("approve")),
        (2, answer("deny")),
        (3, by_alice(Verdict::Declined)),
        (7, by_alice(Verdict::Dismissed(None))),
        (4, Command::Cancel),
    ]) {
        clock.set(at(seconds * 1000));
        resolved(store, &message_id(number), command).await;
    }
    let found = figures(at(0)).await;
    assert_eq!((found.received, found.is_capped), (7, false));
    assert_eq!(
        (found.decided, found.denied),
        (4, 2),
        "neither open nor withdrawn ones count"
    );
    assert_eq!(found.median, Some(Duration::from_secs(20)));
    assert_eq!(figures(at(1)).await, AgentFigures::default(), "they came before");
}
