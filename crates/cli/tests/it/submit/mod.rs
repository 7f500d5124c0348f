//! Submitting a message.

mod accepted;
mod addressing;
mod callback;
mod idempotency;
mod order;
mod question;
mod shape;
mod version;

use serde_json::Value;

use crate::harness::Agent;

/// A defect of an envelope: its name, the change that causes it, and the field that the error must name.
type Defect = (&'static str, fn(&mut Value), &'static str);

/// Submits every envelope with each of its defects. All must be refused with the same code, each naming its field.
async fn all_refused(bot: &Agent, cases: &[(&[Defect], Value)], status: u16, code: &str) {
    let mut wrong = vec![];
    for (defects, sound) in cases {
        for (name, spoil, field) in *defects {
            let mut envelope = sound.clone();
            spoil(&mut envelope);
            let reply = bot.submit(&envelope).await;
            let error = &reply.json()["error"];
            let named = error["field"].as_str().unwrap_or_default();
            if reply.status != status || error["code"] != code || !named.contains(field) {
                wrong.push(format!(
                    "{} with {name}: {} {}",
                    sound["type"],
                    reply.status,
                    reply.text()
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn remove(object: &mut Value, key: &str) {
    object.as_object_mut().expect("an object").remove(key);
}
