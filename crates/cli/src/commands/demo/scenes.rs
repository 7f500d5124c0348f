//! What the agents of the demo ask, and how they react to the answer.

use std::time::Duration;

use countersign_agent::{Answer, Ask, Choice, Notify, Outcome, Part, Priority, Task, Timestamp, Unaddressed};
use serde_json::{Map, Value, json};

const DECISION_TTL: Duration = Duration::from_secs(10 * 60);

/// One agent of the demo.
pub struct Scene {
    pub agent: &'static str,
    pub project: &'static str,
    /// The message of a round; rounds count from one.
    pub message: fn(u32, Timestamp) -> SceneMessage,
    /// The notice after an outcome: title and body.
    pub reaction: fn(&Outcome) -> (String, String),
}

pub enum SceneMessage {
    Ask(Ask<Unaddressed>),
    Task(Task<Unaddressed>),
    Notify(Notify),
}

pub const SCENES: [Scene; 5] = [
    Scene {
        agent: "demo/deploy",
        project: "shop",
        message: deploy,
        reaction: deployed,
    },
    Scene {
        agent: "demo/support",
        project: "shop",
        message: refund,
        reaction: refunded,
    },
    Scene {
        agent: "demo/database",
        project: "platform",
        message: disk,
        reaction: disk_handled,
    },
    Scene {
        agent: "demo/operations",
        project: "platform",
        message: certificate,
        reaction: certificate_renewed,
    },
    Scene {
        agent: "demo/tests",
        project: "shop",
        message: report,
        reaction: no_reaction,
    },
];

fn deploy(round: u32, _: Timestamp) -> SceneMessage {
    let old = round - 1;
    let diff = format!(
        "--- a/deploy/shop.yaml\n+++ b/deploy/shop.yaml\n@@ -3,5 +3,5 @@\n service: shop\n-image: shop:2.4.{old}\n\
         +image: shop:2.4.{round}\n replicas: 4\n-timeout: 5s\n+timeout: 10s\n region: eu\n"
    );
    let body = "- 214 tests passed\n- no open alerts\n- rollback takes **40 seconds**\n\nThe change raises the timeout of \
                the payment call.";
    let ask = Ask::confirm(format!("Deploy shop 2.4.{round} to production?"));
    SceneMessage::Ask(
        ask.body(body)
            .context(Part::Text(diff))
            .priority(Priority::High)
            .tag("release"),
    )
}

fn deployed(outcome: &Outcome) -> (String, String) {
    if chosen(outcome) == Some("approve") {
        return notice(
            "Deployed to production",
            "No errors in the first minute. Thanks for the quick yes.",
        );
    }
    notice("Deployment held back", "I'll ask again when the next build is green.")
}

fn refund(round: u32, _: Timestamp) -> SceneMessage {
    let schema = json!({
        "type": "object",
        "required": ["amount", "reason"],
        "properties": {
            "amount": {"type": "number", "title": "Amount in EUR", "minimum": 0, "maximum": 129, "default": 129},
            "reason": {"type": "string", "title": "Reason", "enum": ["damaged", "late", "goodwill"]},
            "message": {"type": "string", "title": "Message to the customer", "maxLength": 500},
        },
    });
    let schema = schema.as_object().cloned().unwrap_or_default();
    let mut order = Map::new();
    order.insert("order".to_owned(), format!("S-10{:02}", 40 + round).into());
    order.insert("paid".to_owned(), "129.00 EUR".into());
    order.insert("customer_since".to_owned(), "2021".into());
    let ask = Ask::form(format!("Refund order S-10{:02}?", 40 + round), schema);
    let body = "The parcel arrived with a broken lid. The customer sent a photo and asks for a refund.";
    SceneMessage::Ask(ask.body(body).context(Part::Data(order)).tag("refund"))
}

fn refunded(outcome: &Outcome) -> (String, String) {
    match outcome {
        Outcome::Answered {
            value: Answer::Form(fields),
            ..
        } => {
            let amount = fields.get("amount").map(Value::to_string).unwrap_or_default();
            let title = format!("Refund of {amount} EUR booked");
            notice(&title, "The customer gets an email with your message.")
        }
        _ => notice("No refund", "I told the customer that a colleague will call."),
    }
}

fn disk(_: u32, now: Timestamp) -> SceneMessage {
    let choices = [
        Choice::new("clean", "Delete logs older than 30 days"),
        Choice::new("resize", "Add 100 GB"),
        Choice::new("wait", "Wait until tomorrow"),
    ];
    let ask = Ask::select("db-2 is 91 % full. What should I do?", choices);
    let ask = ask
        .body("It grows by 1 % per hour. Without an answer in 10 minutes I delete old logs.")
        .priority(Priority::Urgent)
        .tag("alert")
        .expires_at(now.plus(DECISION_TTL))
        .default_on_expire("clean");
    SceneMessage::Ask(ask)
}

fn disk_handled(outcome: &Outcome) -> (String, String) {
    match chosen(outcome) {
        Some("resize") => notice("db-2 has 100 GB more", "It is 74 % full now."),
        Some("clean") => notice("Old logs deleted", "db-2 is 68 % full now."),
        Some(_) | None => notice("Waiting until tomorrow", "I'll ask again at 95 %."),
    }
}

fn certificate(_: u32, _: Timestamp) -> SceneMessage {
    let task = Task::new(
        "Renew the certificate of mail.example",
        "It expires in **6 days**. I can't log in to the registrar.",
    );
    let task = task
        .checklist([
            "Order the certificate",
            "Install it on mail-1",
            "Restart the mail server",
        ])
        .verification("`openssl s_client -connect mail.example:993` shows the new date.")
        .tag("certificate");
    SceneMessage::Task(task)
}

fn certificate_renewed(outcome: &Outcome) -> (String, String) {
    match outcome {
        Outcome::Completed { .. } => notice("Certificate checked", "mail.example is valid for another year. Thanks!"),
        _ => notice(
            "Certificate still expires",
            "I'll look for a person who has access to the registrar.",
        ),
    }
}

fn report(_: u32, _: Timestamp) -> SceneMessage {
    let body = "| suite | passed | flaky |\n|---|---|---|\n| checkout | 96 | 1 |\n| search | 118 | 2 |\n\nThe flaky ones are \
                listed in the build.";
    SceneMessage::Notify(
        Notify::new("Nightly tests: 214 passed, 3 flaky")
            .body(body)
            .tag("tests"),
    )
}

fn no_reaction(_: &Outcome) -> (String, String) {
    notice("", "")
}

fn notice(title: &str, body: &str) -> (String, String) {
    (title.to_owned(), body.to_owned())
}

/// The chosen option; a default counts as chosen.
fn chosen(outcome: &Outcome) -> Option<&str> {
    match outcome {
        Outcome::Answered {
            value: Answer::Choice(value),
            ..
        }
        | Outcome::Expired {
            default: Some(Answer::Choice(value)),
        } => Some(value),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use countersign_agent::{Family, Identity, Version};

    use super::*;

    const A2H: Version = Version {
        family: Family::A2h,
        minor: 3,
    };

    #[test]
    fn every_message_is_one_that_a_hub_accepts() {
        let now = Timestamp::from_millis(1_000_000);
        for scene in SCENES {
            let identity = Identity::new(scene.agent);
            let drafted = match (scene.message)(1, now) {
                SceneMessage::Ask(ask) => ask.to(["human:owner"]).draft(&identity, A2H, now),
                SceneMessage::Task(task) => task.to(["human:owner"]).draft(&identity, A2H, now),
                SceneMessage::Notify(notify) => notify.draft(&identity, A2H, now),
            };
            assert!(drafted.is_ok(), "{}: {drafted:?}", scene.agent);
        }
    }

    #[test]
    fn a_denied_deployment_does_not_happen() {
        let answered = |value: &str| Outcome::Answered {
            value: Answer::Choice(value.to_owned()),
            edited: false,
        };
        assert_eq!(deployed(&answered("approve")).0, "Deployed to production");
        for held in [answered("deny"), Outcome::Declined, Outcome::Expired { default: None }] {
            assert_eq!(deployed(&held).0, "Deployment held back", "{held:?}");
        }
    }
}
