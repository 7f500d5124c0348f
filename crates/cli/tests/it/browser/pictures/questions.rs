//! What the agents in the pictures ask.

use serde_json::{Value, json};

use crate::harness::{Hub, ask, expiring, input, notify, select, task};

/// The index of the question that the second picture shows.
pub const RELEASE: usize = 1;

const DIFF: &str = "--- a/deploy/shop.toml\n+++ b/deploy/shop.toml\n@@ -2,6 +2,6 @@\n [service]\n name = \"shop\"\n-image = \
                    \"shop:2.4.0\"\n+image = \"shop:2.4.1\"\n-replicas = 2\n+replicas = 3\n timeout_s = 30\n region = \"eu\"";

struct Question {
    envelope: Value,
    waits_minutes: u32,
}

fn question(mut envelope: Value, title: &str, body: &str, project: &str, tag: &str, waits_minutes: u32) -> Question {
    envelope["title"] = title.into();
    envelope["body"] = body.into();
    envelope["agent"]["project"] = project.into();
    envelope["tags"] = json!([tag]);
    Question {
        envelope,
        waits_minutes,
    }
}

fn urgent(mut envelope: Value) -> Value {
    envelope["priority"] = "urgent".into();
    envelope
}

fn disk() -> Value {
    let mut envelope = expiring(urgent(select("database")), 9 * 60_000);
    envelope["request"]["options"] = json!([
        {"value": "clean", "label": "Delete logs older than 30 days"},
        {"value": "resize", "label": "Add 100 GB"},
    ]);
    envelope["request"]["default_on_expire"] = "clean".into();
    envelope
}

fn release() -> Value {
    let mut envelope = urgent(ask("deployer"));
    envelope["context"] = json!([{"kind": "text", "text": DIFF}]);
    envelope
}

fn questions() -> Vec<Question> {
    vec![
        question(
            disk(),
            "db-2 is 91 % full. What should I do?",
            "It grows by 1 % per hour.",
            "platform",
            "alert",
            1,
        ),
        question(
            release(),
            "Deploy shop 2.4.1 to production?",
            "All 931 tests are **green**. The change adds a third replica; a rollback takes **40 seconds**. See [the \
             run](https://ci.example/runs/42).",
            "storefront",
            "release",
            3,
        ),
        question(
            ask("coder"),
            "May I run `git push --force-with-lease origin feature/search`?",
            "I rebased the branch on main.",
            "storefront",
            "git",
            4,
        ),
        question(
            ask("support"),
            "Refund 129 EUR for order S-1041?",
            "The parcel arrived with a broken lid.",
            "orders",
            "refund",
            6,
        ),
        question(
            select("designer"),
            "Which colour for the new button?",
            "Both pass the contrast check.",
            "storefront",
            "design",
            11,
        ),
        question(
            input("writer"),
            "What belongs into the release notes?",
            "14 changes since 2.4.0, three of them visible.",
            "docs",
            "release",
            17,
        ),
        question(
            ask("migrator"),
            "Drop the column `orders.legacy_ref`?",
            "No query has read it for 90 days.",
            "orders",
            "schema",
            24,
        ),
        question(
            task("operations"),
            "Renew the certificate of mail.example",
            "It expires in 6 days. I can't log in to the registrar.",
            "platform",
            "certificate",
            38,
        ),
        question(
            ask("updater"),
            "Upgrade the payment library to 7.0?",
            "The tests pass; one call has a new name.",
            "orders",
            "dependencies",
            52,
        ),
        question(
            ask("triage"),
            "Close 12 issues without activity for a year?",
            "Each gets a friendly comment.",
            "docs",
            "issues",
            95,
        ),
        question(
            notify("ci"),
            "Nightly tests: 931 passed, 3 flaky",
            "The flaky ones are listed in the build.",
            "storefront",
            "tests",
            240,
        ),
    ]
}

/// Sends all questions, oldest first, and returns their ids in the order of the list above.
pub async fn ask_all(hub: &Hub) -> Vec<String> {
    let mut ids = Vec::new();
    for Question {
        envelope,
        waits_minutes,
    } in questions().into_iter().rev()
    {
        let name = envelope["agent"]["id"].as_str().expect("an agent");
        let id = hub.agent(name).await.accepted(&envelope).await;
        let millis = waits_minutes * 60_000;
        let age = format!("UPDATE message SET received_at = received_at - {millis} WHERE id = '{id}'");
        assert_eq!(hub.execute(&age).await, 1, "the question is there");
        ids.push(id);
    }
    ids.reverse();
    ids
}
