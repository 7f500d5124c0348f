//! Filters of a search, its totals, and the facts of Pulse.

use countersign_core::decide::Verdict;
use countersign_core::message::Payload;
use countersign_core::question::{Ask, Question};
use countersign_core::vocabulary::Tone;
use countersign_protocol::a2h::{Kind, Priority};
use countersign_store::Store;
use countersign_store::clock::ManualClock;
use countersign_store::model::{NewMessage, Submission};
use countersign_store::ops::agent::{AgentNames, FiguresOf, RenameAgent};
use countersign_store::ops::list::OldestOpen;
use countersign_store::ops::message::submit::Submit;
use countersign_store::ops::pulse::{PulseFacts, ReadPulse};
use countersign_store::ops::search::{Search, SearchOrder, SearchPage, SearchTotal};

use super::search::{fill, titled};
use crate::scene::*;

async fn found_in(store: &Store, text: &str, order: SearchOrder) -> SearchPage {
    let search = Search {
        query: text.parse().unwrap(),
        order,
        before: None,
        limit: 100,
        is_counted: true,
    };
    store.run(search).await.unwrap()
}

/// Messages 1 to 6: approved, denied, done by its task's person, open in a project, sensitive and tagged, a notify.
async fn fill_mixed(store: &Store, clock: &ManualClock) {
    add_agent(store, TESTER).await;
    let tagged = Draft {
        tags: &["eu", "rare"],
        project: Some("tower"),
        agent: TESTER,
        ..titled(4, "Mail the server list")
    };
    let drafts = [
        titled(1, "Deploy the mail server"),
        titled(2, "Drop_100% of mail"),
        Draft::task(3),
        tagged,
        Draft {
            tags: &["eu"],
            ..titled(5, "Secret mail")
        },
        Draft::notify(6),
    ];
    fill(store, &drafts).await;
    clock.set(at(1_000));
    resolved(store, &message_id(1), answer("approve")).await;
    clock.set(at(2_000));
    resolved(store, &message_id(2), answer("deny")).await;
    clock.set(at(3_000));
    resolved(store, &message_id(3), finish(Kind::Task)).await;
}

pub async fn filters_find_by_columns_text_and_resolution(store: &Store, clock: &ManualClock) {
    fill_mixed(store, clock).await;
    for (text, numbers) in [
        ("is:open", &[5, 4][..]),
        ("is:approved", &[1]),
        ("is:denied", &[2]),
        ("is:answered", &[2, 1]),
        ("is:decided mail", &[2, 1]),
        ("is:done", &[3]),
        ("is:defaulted", &[]),
        ("from:nobody mail", &[]),
        ("kind:ask is:open", &[5, 4]),
        ("kind:notify", &[6]),
        ("tag:eu", &[5, 4]),
        ("tag:eu tag:rare", &[4]),
        ("project:tower", &[4]),
        ("\"mail server\"", &[1]),
        ("\"server mail\"", &[]),
        ("by:alice", &[3, 2, 1]),
        ("by:human:alice is:denied", &[2]),
        ("by:alic_", &[]),
        ("by:%", &[]),
        ("after:2999-01-01", &[]),
        ("before:1970-01-01", &[]),
    ] {
        let page = found_in(store, text, SearchOrder::Arrived).await;
        let numbers: Vec<_> = numbers.iter().copied().map(message_id).collect();
        assert_eq!(ids(&page.items), numbers, "{text}");
        let count = numbers.len();
        assert_eq!(page.total, Some(SearchTotal { count, is_more: false }), "{text}");
    }
    let agent = found_in(store, &format!("from:{TESTER}"), SearchOrder::Arrived).await;
    assert_eq!(ids(&agent.items), [4].map(message_id));
}

pub async fn an_agent_is_found_by_its_id_and_by_its_name(store: &Store, clock: &ManualClock) {
    fill_mixed(store, clock).await;
    let named = RenameAgent {
        id: TESTER.to_owned(),
        name: Some("Mail Prüfer · tower".to_owned()),
        actor: OWNER.to_owned(),
    };
    store.run(named).await.unwrap();
    for (text, numbers) in [
        (format!("from:{TESTER}"), &[4][..]),
        ("from:prufer".to_owned(), &[4]),
        ("from:\"tower mail\"".to_owned(), &[4]),
        ("from:mail is:open server".to_owned(), &[4]),
        ("from:mail is:denied".to_owned(), &[]),
        ("from:mailer".to_owned(), &[]),
        ("from:·".to_owned(), &[]),
    ] {
        let page = found_in(store, &text, SearchOrder::Arrived).await;
        let numbers: Vec<_> = numbers.iter().copied().map(message_id).collect();
        assert_eq!(ids(&page.items), numbers, "{text}");
        let count = numbers.len();
        assert_eq!(page.total, Some(SearchTotal { count, is_more: false }), "{text}");
    }
    let decided = found_in(store, "from:prufer", SearchOrder::Decided).await;
    assert!(decided.items.is_empty());
    let ids = [TESTER, BUILDER, "nobody"].map(str::to_owned).into();
    let names = store.run(AgentNames { ids }).await.unwrap();
    assert_eq!(names.get(TESTER).map(String::as_str), Some("Mail Prüfer · tower"));
    assert_eq!(names.get(BUILDER).map(String::as_str), Some(BUILDER));
    assert_eq!(names.get("nobody"), None);
}

pub async fn decided_messages_are_found_latest_decision_first(store: &Store, clock: &ManualClock) {
    fill_mixed(store, clock).await;
    for (text, numbers) in [
        ("", &[3, 2, 1][..]),
        ("mail", &[2, 1]),
        ("is:open", &[]),
        ("is:denied", &[2]),
        ("\"mail server\" by:alice", &[1]),
    ] {
        let page = found_in(store, text, SearchOrder::Decided).await;
        let numbers: Vec<_> = numbers.iter().copied().map(message_id).collect();
        assert_eq!(ids(&page.items), numbers, "{text}");
    }
}

pub async fn totals_stop_at_a_thousand(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    for number in 1..=1_001 {
        submitted(store, &Draft::notify(number)).await;
    }
    let page = found_in(store, "kind:notify", SearchOrder::Arrived).await;
    assert_eq!((page.items.len(), page.next.is_some()), (100, true));
    assert_eq!(
        page.total,
        Some(SearchTotal {
            count: 1_000,
            is_more: true
        })
    );
}

pub async fn pulse_knows_what_waits_and_how_decisions_ended(store: &Store, clock: &ManualClock) {
    fill_mixed(store, clock).await;
    let facts = store.run(ReadPulse { since: at(1_500) }).await.unwrap();
    assert_eq!((facts.waiting, facts.is_cut), (2, false));
    assert!(facts.oldest.is_some());
    let tones = |facts: &PulseFacts| facts.decisions.iter().map(|fact| fact.ending.tone).collect::<Vec<_>>();
    assert_eq!(tones(&facts), [Tone::Good, Tone::Bad]);
    let all = store.run(ReadPulse { since: at(0) }).await.unwrap();
    assert_eq!(tones(&all), [Tone::Good, Tone::Bad, Tone::Good]);
    let first = all.decisions.last().unwrap();
    assert!(first.is_decided && !first.is_default && first.resolved_at == at(1_000));
}

/// Asks 1 to 5 and task 6: a sensitive confirm and a text answered `deny`, own words, a skip, a confirm denied, not done.
async fn fill_with_no(store: &Store) {
    let question = |question: Question, draft: Draft| {
        let Payload::Ask(ask) = draft.payload else {
            panic!("an ask");
        };
        let ask = Ask {
            question,
            default_on_expire: None,
            ..ask
        };
        Draft {
            payload: Payload::Ask(ask),
            ..draft
        }
    };
    let sensitive = Draft {
        sensitive: true,
        ..Draft::ask(1)
    };
    let text = question(Question::Text, Draft::ask(2));
    fill(
        store,
        &[
            sensitive,
            text,
            Draft::ask(3),
            Draft::ask(4),
            Draft::ask(5),
            Draft::task(6),
        ],
    )
    .await;
    for (number, command) in [
        (1, answer("deny")),
        (2, answer("deny")),
        (3, by_alice(Verdict::Wrote("deny".to_owned()))),
        (4, by_alice(Verdict::Declined)),
        (5, answer("deny")),
        (6, by_alice(Verdict::Dismissed(None))),
    ] {
        resolved(store, &message_id(number), command).await;
    }
}

pub async fn only_a_denied_confirm_and_a_task_not_done_are_a_no(store: &Store, _clock: &ManualClock) {
    fill_with_no(store).await;
    let facts = store.run(ReadPulse { since: at(0) }).await.unwrap();
    let labels = facts.decisions.iter().map(|fact| fact.ending.label);
    assert_eq!(
        labels.collect::<Vec<_>>(),
        ["Not done", "Denied", "Skipped", "Answered", "Answered", "Answered"]
    );
    assert_eq!(facts.received, [(BUILDER.to_owned(), 6)]);
    let figures = FiguresOf {
        agent_id: BUILDER.to_owned(),
        since: at(0),
    };
    let figures = store.run(figures).await.unwrap();
    assert_eq!((figures.decided, figures.denied), (6, 2));
}

pub async fn pulse_finds_the_oldest_that_waits_of_any_priority(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    for (number, priority, millis) in [
        (1, Priority::Normal, 700),
        (2, Priority::Low, 500),
        (3, Priority::Urgent, 900),
    ] {
        let draft = Draft {
            priority,
            ..Draft::ask(number)
        };
        let message = NewMessage {
            received_at: at(millis),
            ..draft.render()
        };
        let submit = Submit { message, max_open: 9 };
        assert_eq!(store.run(submit).await.unwrap(), Submission::Created);
    }
    let facts = store.run(ReadPulse { since: at(0) }).await.unwrap();
    assert_eq!((facts.waiting, facts.oldest), (3, Some(at(500))));
    resolved(store, &message_id(2), answer("approve")).await;
    assert_eq!(store.run(OldestOpen).await.unwrap(), Some(at(700)));
}
