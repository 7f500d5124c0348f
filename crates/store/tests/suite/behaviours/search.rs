use countersign_core::message::{Payload, Task};
use countersign_protocol::id::MessageId;
use countersign_store::Store;
use countersign_store::clock::ManualClock;
use countersign_store::ops::message::pull::RecordFetched;
use countersign_store::ops::message::sweep::Purge;
use countersign_store::ops::search::{IndexBatch, Indexed, Position, Search, SearchOrder, SearchPage};
use futures_util::future::join_all;

use crate::scene::*;

pub async fn index_all(store: &Store) -> i64 {
    let mut indexed = 0;
    loop {
        let some = store.run(IndexBatch { limit: 100 }).await.unwrap();
        indexed += some.count;
        if some.is_all {
            return indexed;
        }
    }
}

async fn page(store: &Store, text: &str, before: Option<Position>, limit: usize) -> SearchPage {
    store
        .run(Search {
            query: text.parse().unwrap(),
            order: SearchOrder::Arrived,
            before,
            limit,
            is_counted: true,
        })
        .await
        .unwrap()
}

pub async fn find(store: &Store, text: &str) -> Vec<MessageId> {
    let page = page(store, text, None, 100).await;
    assert_eq!(page.next, None);
    ids(&page.items)
}

pub async fn fill(store: &Store, drafts: &[Draft]) {
    add_agent(store, BUILDER).await;
    for draft in drafts {
        submitted(store, draft).await;
    }
    assert_eq!(index_all(store).await, i64::try_from(drafts.len()).unwrap());
}

pub fn titled(number: u64, title: &'static str) -> Draft {
    Draft {
        title: Some(title),
        ..Draft::ask(number)
    }
}

pub async fn all_words_have_to_occur(store: &Store, _clock: &ManualClock) {
    let body = "The certificate of the mail server ends on Friday";
    fill(
        store,
        &[
            titled(1, "Deploy the mail server"),
            Draft {
                body,
                ..titled(2, "Renew")
            },
            titled(3, "Pay"),
        ],
    )
    .await;
    assert_eq!(
        find(store, "mail").await,
        [2, 1].map(message_id),
        "newest first, in titles and bodies"
    );
    assert_eq!(find(store, "mail deploy").await, [1].map(message_id));
    assert_eq!(find(store, "renew friday").await, [2].map(message_id));
    assert!(find(store, "deploy friday").await.is_empty());
    assert!(find(store, "nothing").await.is_empty());
}

pub async fn the_start_of_a_word_is_enough(store: &Store, _clock: &ManualClock) {
    fill(store, &[titled(1, "Deployment of v2.10"), titled(2, "a plan b")]).await;
    for text in ["dep", "de", "deploy", "deployment", "DEPLOYMENT of", "v2.10"] {
        assert_eq!(find(store, text).await, [1].map(message_id), "{text}");
    }
    assert!(find(store, "ployment").await.is_empty());
    assert_eq!(find(store, "p").await.len(), 0, "a single letter is a word of its own");
    assert_eq!(find(store, "b").await, [2].map(message_id));
}

pub async fn case_and_accents_do_not_matter(store: &Store, _clock: &ManualClock) {
    fill(
        store,
        &[titled(1, "Crème Brûlée für ÄRZTE"), titled(2, "Отчёт за 東京")],
    )
    .await;
    for text in ["creme brulee", "CRÈME", "cre\u{300}me", "arzte", "Ärzte", "FÜR"] {
        assert_eq!(find(store, text).await, [1].map(message_id), "{text}");
    }
    for text in ["отчет", "ОТЧЁТ", "東", "東京"] {
        assert_eq!(find(store, text).await, [2].map(message_id), "{text}");
    }
}

pub async fn a_message_is_found_by_its_agent_project_and_tags(store: &Store, _clock: &ManualClock) {
    add_agent(store, "build/nightly-7").await;
    let named = Draft {
        agent: "build/nightly-7",
        project: Some("tower bridge"),
        tags: &["eu-west"],
        ..Draft::ask(1)
    };
    let steps = Task {
        instructions: "Turn the valve".to_owned(),
        checklist: Vec::new(),
        verification: None,
    };
    fill(
        store,
        &[
            named,
            Draft {
                payload: Payload::Task(steps),
                ..Draft::task(2)
            },
        ],
    )
    .await;
    for text in ["nightly", "build/nightly-7", "tower", "eu-west"] {
        assert_eq!(find(store, text).await, [1].map(message_id), "{text}");
    }
    assert_eq!(
        find(store, "valve").await,
        [2].map(message_id),
        "and a task by what is to be done"
    );
}

pub async fn sensitive_words_are_not_found(store: &Store, _clock: &ManualClock) {
    let secret = Draft {
        sensitive: true,
        tags: &["password"],
        ..titled(1, "The launch code")
    };
    fill(store, &[secret, titled(2, "Launch on Friday")]).await;
    assert_eq!(find(store, "launch").await, [2].map(message_id));
    for text in ["code", "password", "builder code"] {
        assert!(find(store, text).await.is_empty(), "{text}");
    }
    assert_eq!(index_all(store).await, 0, "it is not looked at again");
}

pub async fn search_text_is_never_query_syntax(store: &Store, _clock: &ManualClock) {
    fill(store, &[titled(1, "or and not near: 100% \"quoted\" it's")]).await;
    let long = "x".repeat(200);
    let no_words = [
        "", "   ", "\"", "''", "*", "(", "\u{0}", ":*", "&", "|", "!", "\\", "-", "%", "\u{202e}", "\u{301}",
    ];
    for text in no_words {
        assert!(find(store, text).await.is_empty(), "{text:?}");
    }
    let found = [
        "or",
        "NOT",
        "AND",
        "near(",
        "100%",
        "\"quoted\"",
        "quoted*",
        "it's",
        "' OR 1=1 --",
        "\"title:or\" OR \"x",
        "a&!b|(c",
        "\"words:or\"",
        "^or",
        "or + and",
        "{or}",
        "or\u{0}and",
        "'quoted':*",
        "\\",
        "or <-> and",
    ];
    for text in found {
        page(store, text, None, 10).await;
    }
    assert_eq!(
        find(store, "NOT or* \"AND\"").await,
        [1].map(message_id),
        "operators are words too"
    );
    assert!(find(store, &long).await.is_empty());
    assert!(find(store, &"or ".repeat(60)).await.len() == 1);
    assert_eq!(
        find(store, "or and not near 100 quoted it s missing").await,
        [1].map(message_id),
        "eight count"
    );
}

pub async fn a_long_word_is_found_by_its_start(store: &Store, _clock: &ManualClock) {
    const HASH: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855e3b0c44298fc1c149afbf4c8996fb9";
    fill(store, &[titled(1, HASH)]).await;
    assert_eq!(find(store, HASH).await, [1].map(message_id));
    assert_eq!(find(store, &HASH[..70]).await, [1].map(message_id));
    assert_eq!(find(store, &HASH[..7]).await, [1].map(message_id));
}

pub async fn pages_have_no_gap_and_no_duplicate(store: &Store, _clock: &ManualClock) {
    let drafts: Vec<_> = (1..=7)
        .map(|number| titled(number, if number == 4 { "other" } else { "deploy" }))
        .collect();
    fill(store, &drafts).await;
    for limit in 1..=7 {
        let mut seen = Vec::new();
        let mut before = None;
        loop {
            let page = page(store, "deploy", before, limit).await;
            seen.extend(ids(&page.items));
            before = page.next;
            if before.is_none() {
                break;
            }
            assert_eq!(page.items.len(), limit, "only the last page is short");
        }
        assert_eq!(seen, [7, 6, 5, 3, 2, 1].map(message_id), "in pages of {limit}");
    }
}

pub async fn open_and_decided_are_found_alike(store: &Store, clock: &ManualClock) {
    fill(
        store,
        &[
            titled(1, "deploy"),
            Draft {
                title: Some("deploy"),
                ..Draft::notify(2)
            },
            titled(3, "deploy"),
        ],
    )
    .await;
    resolved(store, &message_id(1), answer("approve")).await;
    clock.set(at(5));
    store
        .run(RecordFetched {
            ids: vec![message_id(1)],
        })
        .await
        .unwrap();
    let found = page(store, "deploy", None, 10).await.items;
    assert_eq!(ids(&found), [3, 2, 1].map(message_id));
    assert_eq!(found[2].as_ref().unwrap().fetched_at, Some(at(5)));
    assert_eq!(
        found[0].as_ref().unwrap().message.content,
        titled(3, "deploy").content()
    );
}

pub async fn new_messages_are_found_after_the_next_index_batch(store: &Store, _clock: &ManualClock) {
    fill(store, &[titled(1, "deploy")]).await;
    submitted(store, &titled(2, "deploy")).await;
    assert_eq!(find(store, "deploy").await, [1].map(message_id));
    assert_eq!(index_all(store).await, 1);
    assert_eq!(find(store, "deploy").await, [2, 1].map(message_id));
    assert_eq!(index_all(store).await, 0);
}

pub async fn index_batch_respects_its_limit(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    for number in 1..=5 {
        submitted(store, &titled(number, "deploy")).await;
    }
    for (indexed, found) in [
        (2, vec![2, 1]),
        (2, vec![4, 3, 2, 1]),
        (1, vec![5, 4, 3, 2, 1]),
        (0, vec![5, 4, 3, 2, 1]),
    ] {
        assert_eq!(store.run(IndexBatch { limit: 2 }).await.unwrap().count, indexed);
        assert_eq!(
            find(store, "deploy").await,
            found.into_iter().map(message_id).collect::<Vec<_>>()
        );
    }
}

pub async fn index_batch_is_limited_by_text_size(store: &Store, _clock: &ManualClock) {
    let body: &'static str = Box::leak("deploy ".repeat(100_000).into_boxed_str());
    add_agent(store, BUILDER).await;
    for number in 1..=5 {
        submitted(
            store,
            &Draft {
                body,
                ..Draft::ask(number)
            },
        )
        .await;
    }
    for (count, is_all) in [(3, false), (2, true), (0, true)] {
        assert_eq!(
            store.run(IndexBatch { limit: 100 }).await.unwrap(),
            Indexed { count, is_all }
        );
    }
    assert_eq!(find(store, "deploy").await.len(), 5);
}

pub async fn concurrent_batches_index_each_message_once(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    let drafts: Vec<_> = (1..=40).map(|number| titled(number, "deploy")).collect();
    let submits = join_all(drafts.iter().map(|draft| submitted(store, draft)));
    let turns = join_all((0..8).map(|_| store.run(IndexBatch { limit: 3 })));
    let (_, turns) = futures_util::future::join(submits, turns).await;
    let indexed: i64 = turns.into_iter().map(|indexed| indexed.unwrap().count).sum();
    assert_eq!(indexed + index_all(store).await, 40);
    assert_eq!(find(store, "deploy").await.len(), 40);
}

pub async fn purged_messages_are_not_found(store: &Store, clock: &ManualClock) {
    fill(store, &[titled(1, "deploy"), titled(2, "deploy")]).await;
    resolved(store, &message_id(1), answer("approve")).await;
    clock.set(at(10));
    submitted_and_resolved(store, &titled(3, "deploy")).await;
    assert_eq!(
        store
            .run(Purge {
                resolved_before: at(20),
                limit: 10
            })
            .await
            .unwrap(),
        2
    );
    assert_eq!(
        index_all(store).await,
        0,
        "one that was emptied before its turn has nothing to say"
    );
    assert_eq!(find(store, "deploy").await, [2].map(message_id));
    submitted(store, &titled(4, "deploy")).await;
    assert_eq!(index_all(store).await, 1);
    assert_eq!(find(store, "deploy").await, [4, 2].map(message_id));
}
