//! Test fixture: a store with data in every table.

use countersign_core::{Command, Verdict};
use countersign_protocol::a2h::Priority;
use countersign_store::Store;
use countersign_store::clock::ManualClock;
use countersign_store::copy::SKIPPED_TABLES;
use countersign_store::model::{ApplyOutcome, ResolveRequest};
use countersign_store::ops::account::passkey::AddPasskey;
use countersign_store::ops::account::setting::PutSetting;
use countersign_store::ops::admin::callbacks::PutHost;
use countersign_store::ops::message::apply::Apply;
use countersign_store::ops::message::pull::RecordFetched;
use countersign_store::ops::message::sweep::Purge;
use countersign_store::ops::run::Advance;
use countersign_store::ops::terminal::DropAhead;
use rusqlite::Connection;
use serde_json::json;

use crate::behaviours::files::{bodies, notes};
use crate::behaviours::search::index_all;
use crate::behaviours::snooze::put_away;
use crate::cues::{ZOBAL, add_people, created, cue, join, typed_ahead};
use crate::runs;
use crate::scene::*;

/// The number of the last message.
pub const LAST: u64 = 60;
/// The search finds that message's title by this word.
pub const WORD: &str = "straße";

pub async fn fill(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    add_agent(store, TESTER).await;
    add_people(store).await;
    ended_in_every_way(store, clock).await;
    terminals(store).await;
    a_run(store).await;
    for number in 30..LAST {
        submitted(
            store,
            &Draft {
                agent: TESTER,
                priority: Priority::Low,
                ..Draft::ask(number)
            },
        )
        .await;
    }
    let title = Some("Straße, 東京, e\u{301} 😀 \"quoted\" \\ \u{fffd} — geht’s?");
    submitted(
        store,
        &Draft {
            title,
            body: "",
            sensitive: false,
            ..Draft::ask(LAST)
        },
    )
    .await;
    what_people_do(store).await;
    index_all(store).await;
}

async fn ended_in_every_way(store: &Store, clock: &ManualClock) {
    submitted_and_resolved(store, &Draft::task(1)).await;
    clock.set(at(10));
    assert_eq!(
        store
            .run(Purge {
                resolved_before: at(5),
                limit: 10
            })
            .await
            .unwrap(),
        1
    );
    submitted_and_resolved(
        store,
        &Draft {
            key: Some("once"),
            ..Draft::pushed(2)
        },
    )
    .await;
    let endings = [answer("deny"), by_alice(Verdict::Declined), Command::Cancel];
    for (number, ending) in (3..).zip(endings) {
        let id = submitted(store, &Draft::pushed(number)).await;
        resolved(store, &id, ending).await;
    }
    let late = submitted(
        store,
        &Draft {
            expires_at: Some(at(11)),
            ..Draft::ask(6)
        },
    )
    .await;
    clock.set(at(12));
    resolved(store, &late, Command::Expire).await;
    submitted(store, &Draft::notify(7)).await;
    let urgent = Draft {
        priority: Priority::Urgent,
        project: None,
        tags: &[],
        sensitive: true,
        ..Draft::ask(8)
    };
    submitted(store, &urgent).await;
}

async fn terminals(store: &Store) {
    assert!(join(store, ZOBAL, "alice").await);
    created(store, cue(10, "Ship it?")).await;
    let command = by_alice(Verdict::AnsweredWith {
        value: json!("see there"),
        files: notes(),
    });
    let request = ResolveRequest {
        files: bodies(),
        ..resolve_request(&message_id(10), command)
    };
    let answered = store.run(Apply(request)).await.unwrap();
    assert!(matches!(answered, ApplyOutcome::Resolved(_)), "{answered:?}");
    created(store, cue(11, "And now?")).await;
    typed_ahead(store, "go on").await;
    // Its number was assigned, although no row in the table shows it any more.
    let agent_id = ZOBAL.to_owned();
    let id = typed_ahead(store, "no, wait").await;
    assert!(
        store
            .run(DropAhead {
                agent_id,
                id,
                actor: alice().to_string()
            })
            .await
            .unwrap()
    );
}

async fn a_run(store: &Store) {
    runs::begun(store).await;
    runs::asked(store, &[20]).await;
    let events = (1..=12).map(runs::event).collect();
    let records = vec!["one".to_owned(), "\u{2400}".to_owned()];
    assert!(
        runs::advance(
            store,
            Advance {
                events,
                records,
                ..runs::step(runs::RUN)
            }
        )
        .await
    );
}

async fn what_people_do(store: &Store) {
    assert!(put_away(store, "alice", 8, Some(at(5000))).await && put_away(store, "bob", 7, None).await);
    store
        .run(RecordFetched {
            ids: vec![message_id(2)],
        })
        .await
        .unwrap();
    let actor = OWNER.to_owned();
    let person = "alice".to_owned();
    // Sorted by bytes: capitals first and accents last, unlike any dictionary.
    for name in ["reasons", "Zeit", "änderung"] {
        let name = name.to_owned();
        let value = r#"["später"]"#.to_owned();
        let actor = actor.clone();
        store.run(PutSetting { name, value, actor }).await.unwrap();
    }
    let name = "key".to_owned();
    let body = "{}".to_owned();
    store
        .run(AddPasskey {
            person,
            id: vec![0, 255, 1],
            name,
            body,
        })
        .await
        .unwrap();
    let agent_id = BUILDER.to_owned();
    let host = HOST.to_owned();
    store
        .run(PutHost {
            agent_id,
            host,
            approve: true,
            actor,
        })
        .await
        .unwrap()
        .expect("the agent is there");
}

/// The copied tables, sorted by name.
pub fn tables(connection: &Connection) -> Vec<String> {
    let all = "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' \
         AND name NOT LIKE 'sqlite_%' ORDER BY name";
    let mut statement = connection.prepare(all).unwrap();
    let names = statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap);
    names
        .filter(|name: &String| SKIPPED_TABLES.iter().all(|(left_out, _)| left_out != name))
        .collect()
}

/// Inserts one row into every empty table, based on its column types: covers tables of later schemas too.
pub fn fill_empty_tables(connection: &Connection) {
    for name in tables(connection) {
        let count: i64 = connection
            .query_row(&format!("SELECT count(*) FROM {name}"), [], |row| row.get(0))
            .unwrap();
        if count == 0 {
            let kinds = format!(
                "SELECT group_concat(CASE type WHEN 'TEXT' THEN '''ü''' WHEN 'BLOB' THEN 'x''00ff''' ELSE '7' END) \
                 FROM pragma_table_info('{name}')"
            );
            let values: String = connection.query_row(&kinds, [], |row| row.get(0)).unwrap();
            assert_eq!(
                connection
                    .execute(&format!("INSERT INTO {name} VALUES ({values})"), [])
                    .unwrap(),
                1
            );
        }
    }
}
