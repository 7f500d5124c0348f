//! Damaged rows and a broken audit trail, made behind the hub's back in the real database.

use serde_json::Value;

use crate::harness::*;
use crate::web::WebClient;

/// The database of a hub, as an operator with a shell has it.
enum Shell {
    Sqlite,
    Postgres(Database),
}

impl Shell {
    async fn setup(&self) -> Setup {
        let setup = Setup::default()
            .args(&["--allow-loopback-callbacks"])
            .config("[push]\nfirst_retry_ms = 3600000\n");
        match self {
            Self::Sqlite => setup,
            Self::Postgres(database) => setup.database_url(&database.url()),
        }
    }

    async fn execute(&self, hub: &Hub, sql: &str) {
        match self {
            Self::Sqlite => {
                let connection = rusqlite::Connection::open(hub.data().join("hub.db")).unwrap();
                connection.execute_batch(sql).unwrap();
            }
            Self::Postgres(database) => database.execute(sql).await,
        }
    }

    /// A text that is no JSON; in SQLite, which allows it, not even UTF-8.
    fn broken_text(&self) -> &'static str {
        match self {
            Self::Sqlite => "CAST(x'7bff7d' AS TEXT)",
            Self::Postgres(_) => "'{'",
        }
    }

    /// Too short for a hash.
    fn short_blob(&self) -> &'static str {
        match self {
            Self::Sqlite => "x'00ff'",
            Self::Postgres(_) => "'\\x00ff'",
        }
    }

    /// Lets the trail be changed, which its triggers refuse.
    async fn unlock_audit(&self, hub: &Hub) {
        let sql = match self {
            Self::Sqlite => "DROP TRIGGER audit_keeps_its_entries; DROP TRIGGER audit_never_changes",
            Self::Postgres(_) => "ALTER TABLE audit DISABLE TRIGGER USER",
        };
        self.execute(hub, sql).await;
    }

    fn verify(&self, hub: &Hub, more: &[&str]) -> CommandOutput {
        let url = match self {
            Self::Sqlite => None,
            Self::Postgres(database) => Some(database.url()),
        };
        let store = url.iter().flat_map(|url| ["--store", url.as_str()]);
        let args: Vec<&str> = ["audit", "verify"]
            .into_iter()
            .chain(store)
            .chain(more.iter().copied())
            .collect();
        hub.cli(&args)
    }
}

macro_rules! on_both_engines {
    ($($behaviour:ident)+) => {
        $(
            mod $behaviour {
                use super::*;

                #[tokio::test(flavor = "multi_thread")]
                async fn on_sqlite() {
                    super::$behaviour(Shell::Sqlite).await;
                }

                #[tokio::test(flavor = "multi_thread")]
                async fn on_postgres() {
                    super::$behaviour(Shell::Postgres(Database::create().await)).await;
                }
            }
        )+
    };
}

on_both_engines! {
    damaged_messages_are_entries_of_their_own
    damaged_messages_do_not_stop_the_others
    changed_answer_is_neither_pushed_nor_pulled
    deleted_entry_is_named
    verifier_names_every_kind_of_fault
}

async fn listed(hub: &Hub, path: &str) -> Vec<Value> {
    let page = hub.owner.get(path).await.expect(200);
    let items = page.get("items").or_else(|| page.get("messages")).unwrap();
    items.as_array().unwrap().clone()
}

fn unreadable(items: &[Value]) -> Vec<&str> {
    let damaged = items.iter().filter(|item| item["unreadable"] == true);
    damaged.map(|item| item["id"].as_str().unwrap()).collect()
}

async fn damaged_messages_are_entries_of_their_own(shell: Shell) {
    let hub = shell.setup().await.start().await;
    let bot = hub.agent("bot").await;
    let broken_text = bot.accepted(&ask("bot")).await;
    let broken_source = bot.accepted(&ask("bot")).await;
    let whole = bot.accepted(&ask("bot")).await;
    let no_resolution = bot.accepted(&ask("bot")).await;
    hub.owner.answer(&no_resolution, "approve").await.expect(200);
    let no_text = bot.accepted(&notify("bot")).await;
    // Found by its words, and damaged after that.
    assert_eq!(listed(&hub, "/v1/search?q=deploy").await.len(), 5);
    let seq = |id: &str| format!("(SELECT seq FROM message WHERE id = '{id}')");
    for sql in [
        format!(
            "UPDATE message_text SET wire = {} WHERE seq = {}",
            shell.broken_text(),
            seq(&broken_text)
        ),
        format!("UPDATE message SET source = 'nonsense' WHERE id = '{broken_source}'"),
        format!("DELETE FROM resolution WHERE seq = (SELECT resolution_seq FROM message WHERE id = '{no_resolution}')"),
        format!("DELETE FROM message_text WHERE seq = {}", seq(&no_text)),
    ] {
        shell.execute(&hub, &sql).await;
    }
    let inbox = listed(&hub, "/v1/inbox").await;
    assert_eq!(inbox.len(), 3, "{inbox:?}");
    assert_eq!(unreadable(&inbox), [&broken_text, &broken_source]);
    assert_eq!(inbox[0]["agent"]["id"], "bot");
    assert_eq!(inbox[0]["can_answer"], false);
    assert_eq!(listed(&hub, "/v1/inbox?agent=bot&limit=1").await.len(), 1);
    assert!(unreadable(&listed(&hub, "/v1/inbox?tag=none").await).is_empty());
    assert_eq!(unreadable(&listed(&hub, "/v1/decided").await), [&no_resolution]);
    assert_eq!(unreadable(&listed(&hub, "/v1/notices").await), [&no_text]);
    assert_eq!(listed(&hub, "/v1/messages").await.len(), 5);
    assert_eq!(
        unreadable(&listed(&hub, "/v1/messages?limit=2").await),
        [&no_text, &no_resolution]
    );
    assert_eq!(unreadable(&listed(&hub, "/v1/search?q=deploy").await).len(), 4);
    for id in [&broken_text, &broken_source, &no_resolution, &no_text] {
        let refused = hub.owner.get(&format!("/v1/inbox/{id}")).await.refused("unreadable");
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(
            message.contains(id.as_str()) && !message.contains("try again"),
            "{message}"
        );
    }
    bot.get(&format!("/v1/messages/{broken_source}"))
        .await
        .refused("unreadable");
    hub.owner.answer(&broken_text, "approve").await.refused("unreadable");
    pages_show_damage(&hub, &broken_text, &no_resolution, &no_text).await;
    let shown = hub.cli(&["inbox"]).ok();
    assert!(
        shown.contains("This message cannot be read") && shown.contains("Deploy build 42?"),
        "{shown}"
    );
    assert!(hub.cli(&["show", &broken_text]).fails(1).contains(&broken_text));
    let report = hub.cli(&["doctor"]);
    assert_eq!(report.code, 1, "{report:?}");
    assert!(
        report.stdout.contains(&broken_text) && report.stdout.contains(&no_text),
        "{report:?}"
    );
    hub.owner.answer(&whole, "approve").await.expect(200);
    let log = hub.process().stderr_with("message cannot be decoded").await;
    let named = format!("skipping it error=message {broken_text}");
    assert_eq!(log.matches(&named).count(), 1, "logged once: {log}");
}

/// Cells that PostgreSQL would refuse, because its columns have types.
#[tokio::test(flavor = "multi_thread")]
async fn single_damaged_cells_do_not_shut_the_lists() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let unranked = bot.accepted(&ask("bot")).await;
    let snoozed = bot.accepted(&ask("bot")).await;
    let fetched = bot.accepted(&ask("bot")).await;
    hub.owner.answer(&fetched, "approve").await.expect(200);
    let seq = |id: &str| format!("(SELECT seq FROM message WHERE id = '{id}')");
    for sql in [
        format!("UPDATE message SET rank = 'nonsense' WHERE id = '{unranked}'"),
        format!(
            "INSERT INTO shelf (person, seq, until) VALUES ('owner', {}, 'nonsense')",
            seq(&snoozed)
        ),
        format!(
            "INSERT OR REPLACE INTO fetched (seq, at) VALUES ({}, 'nonsense')",
            seq(&fetched)
        ),
    ] {
        Shell::Sqlite.execute(&hub, &sql).await;
    }
    let client = WebClient::signed_in(&hub).await;
    for list in ["/inbox", "/inbox/aside", "/inbox/history"] {
        client.get(list).await.expect(200);
    }
    for list in ["/v1/inbox", "/v1/inbox/aside", "/v1/decided"] {
        hub.owner.get(list).await.expect(200);
    }
    let report = hub.cli(&["doctor"]);
    assert!(report.code == 1 && report.stdout.contains(&unranked), "{report:?}");
}

async fn pages_show_damage(hub: &Hub, open: &str, decided: &str, notice: &str) {
    let client = WebClient::signed_in(hub).await;
    for (list, id) in [
        ("/inbox", open),
        ("/inbox/history", decided),
        ("/inbox/notices", notice),
        ("/inbox/search?q=deploy", open),
    ] {
        let page = client.get(list).await.expect(200);
        assert_eq!(
            page.text_at(&format!("#row-{id} .title")),
            "This message cannot be read",
            "{list}"
        );
    }
    let page = client.get(&format!("/inbox/items/{open}")).await.expect(500);
    assert!(page.text_at("#problem").contains(open));
}

async fn damaged_messages_do_not_stop_the_others(shell: Shell) {
    let hub = shell.setup().await.start().await;
    let bot = hub.agent("bot").await;
    let damaged = bot.accepted(&expiring(ask("bot"), 3_600_000)).await;
    let misnamed = bot.accepted(&expiring(ask("bot"), 3_600_000)).await;
    let unhashed = bot.accepted(&expiring(ask("bot"), 3_600_000)).await;
    shell
        .execute(
            &hub,
            &format!("UPDATE message SET source = '', expires_at = 1 WHERE id = '{damaged}'"),
        )
        .await;
    shell
        .execute(
            &hub,
            &format!("UPDATE message SET id = 'nonsense', expires_at = 2 WHERE id = '{misnamed}'"),
        )
        .await;
    shell
        .execute(
            &hub,
            &format!(
                "UPDATE message SET audit_hash = {}, expires_at = 3 WHERE id = '{unhashed}'",
                shell.short_blob()
            ),
        )
        .await;
    let next = bot.accepted_briefly(&ask("bot")).await;
    let ended = eventually("the next message expires", async || {
        let found = listed(&hub, "/v1/decided").await;
        found.into_iter().find(|item| item["id"] == next)
    })
    .await;
    assert_eq!(ended["status"], "expired");
    hub.owner.get("/ready").await.expect(200);
}

async fn changed_answer_is_neither_pushed_nor_pulled(shell: Shell) {
    let hub = shell.setup().await.start().await;
    let receiver = Receiver::start().await;
    receiver.script("/cb", &[PushReply::Status(500), PushReply::Status(200)]);
    let bot = hub.agent("bot").await;
    hub.approve(&bot, &receiver.host()).await;
    let id = bot.accepted(&push_to(ask("bot"), &receiver.url("/cb"))).await;
    hub.owner.answer(&id, "deny").await.expect(200);
    receiver.at("/cb", 1).await;
    hub.delivery(&id, "pending").await;
    assert_eq!(bot.pull(&id).await["status"], "answered");
    shell
        .execute(&hub, "UPDATE resolution SET body = replace(body, 'deny', 'approve')")
        .await;
    let refused = bot.get(&format!("/v1/messages/{id}")).await.refused("audit_broken");
    assert!(refused["error"]["message"].as_str().unwrap().contains(&id), "{refused}");
    bot.get(&format!("/v1/messages/{id}?wait=5"))
        .await
        .refused("audit_broken");
    hub.cli(&["delivery", "retry", &id]).ok();
    let delivery = hub.delivery(&id, "failed").await;
    assert!(
        delivery["last_error"].as_str().unwrap().contains("audit trail"),
        "{delivery}"
    );
    assert_eq!(receiver.seen().len(), 1, "nothing was signed");
    let log = hub.process().stderr_with("audit trail broken").await;
    assert_eq!(log.matches("audit trail broken").count(), 1, "{log}");
    let metrics = hub.owner.get("/metrics").await.text();
    assert!(
        metrics.contains("countersign_store_faults{kind=\"audit_broken\"} 1"),
        "{metrics}"
    );
    let report = hub.cli(&["doctor"]);
    assert!(report.code == 1 && report.stdout.contains(&id), "{report:?}");
    let report = shell.verify(&hub, &[]);
    assert!(
        report.code == 1 && report.stdout.contains("the stored resolution is not"),
        "{report:?}"
    );
}

async fn deleted_entry_is_named(shell: Shell) {
    let hub = shell.setup().await.start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    hub.owner.answer(&id, "approve").await.expect(200);
    shell.unlock_audit(&hub).await;
    shell
        .execute(&hub, &format!("DELETE FROM audit WHERE subject = '{id}' AND n = 1"))
        .await;
    let trail = format!("/v1/admin/audit?id={id}");
    let refused = hub.owner.get(&trail).await.refused("audit_broken");
    assert!(
        refused["error"]["message"]
            .as_str()
            .unwrap()
            .contains("entry 1 is missing"),
        "{refused}"
    );
    let page = WebClient::signed_in(&hub)
        .await
        .get(&format!("/inbox/items/{id}"))
        .await
        .expect(200);
    assert!(page.text_at("#trail-fault").contains("entry 1 is missing"));
    let report = shell.verify(&hub, &[]);
    assert!(
        report.stdout.contains(&format!("{id} entry 1: the entry is missing")),
        "{report:?}"
    );
    shell
        .execute(
            &hub,
            "DELETE FROM audit WHERE seq = (SELECT audit_seq FROM audit_head WHERE subject = 'agent:bot')",
        )
        .await;
    let refused = hub.cli(&["agent", "rotate", "bot"]).fails(1);
    assert!(refused.contains("the audit trail of agent:bot is broken"), "{refused}");
}

async fn verifier_names_every_kind_of_fault(shell: Shell) {
    let hub = shell.setup().await.start().await;
    let bot = hub.agent("bot").await;
    let mut ids = Vec::new();
    for _ in 0..5 {
        let id = bot.accepted(&ask("bot")).await;
        hub.owner.answer(&id, "approve").await.expect(200);
        ids.push(id);
    }
    let open = bot.accepted(&ask("bot")).await;
    let before = eventually("no transaction runs", async || {
        let report = shell.verify(&hub, &["--json"]).json();
        assert_eq!(report["faults"], serde_json::json!([]), "{report}");
        assert_eq!(report["messages"], 6);
        report["checkpoint"].as_str().map(str::to_owned)
    })
    .await;
    bot.accepted(&ask("bot")).await;
    shell.verify(&hub, &["--expect", &before]).ok();
    shell.verify(&hub, &["--expect", "1:00"]).fails(2);
    shell.unlock_audit(&hub).await;
    let text = "SELECT seq FROM message WHERE id =";
    for sql in [
        format!(
            "UPDATE audit SET actor = 'human:eve' WHERE subject = '{}' AND n = 2",
            ids[0]
        ),
        format!(
            "UPDATE message_text SET wire = wire || ' ' WHERE seq = ({text} '{}')",
            ids[1]
        ),
        format!("DELETE FROM audit WHERE subject = '{}' AND n = 2", ids[2]),
        format!("DELETE FROM message WHERE id = '{}'", ids[3]),
        format!("UPDATE message SET status = 'nonsense' WHERE id = '{}'", ids[4]),
        format!("UPDATE message_text SET wire = replace(wire, '42', '43') WHERE seq = ({text} '{open}')"),
    ] {
        shell.execute(&hub, &sql).await;
    }
    let report = shell.verify(&hub, &["--json", "--expect", &before]);
    assert_eq!(report.code, 1, "{report:?}");
    let report: Value = serde_json::from_str(&report.stdout).unwrap();
    let mut found: Vec<(String, Value, String)> = report["faults"]
        .as_array()
        .unwrap()
        .iter()
        .map(|fault| {
            let text = |name: &str| fault[name].as_str().unwrap().to_owned();
            (text("subject"), fault["entry"].clone(), text("kind"))
        })
        .collect();
    found.sort_by_key(|(subject, _, kind)| (subject.clone(), kind.clone()));
    let mut expected = [
        ("audit", Value::Null, "changed_checkpoint"),
        (&ids[0], 2.into(), "changed_entry"),
        (&ids[1], 2.into(), "changed_content"),
        (&ids[2], Value::Null, "missing_last_entry"),
        (&ids[2], 1.into(), "unreachable_entry"),
        (&ids[3], 2.into(), "unreachable_entry"),
        (&ids[4], Value::Null, "unreadable_message"),
        (&open, 1.into(), "changed_content"),
    ]
    .map(|(subject, entry, kind)| (subject.to_owned(), entry, kind.to_owned()));
    expected.sort_by_key(|(subject, _, kind)| (subject.clone(), kind.clone()));
    assert_eq!(found, expected);
}
