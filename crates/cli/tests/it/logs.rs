//! Logs contain ids and codes, never message content.

use serde_json::json;

use crate::harness::*;

const MARK: &str = "MARK-7f3a";

/// The envelope with the mark in every private field.
fn marked(envelope: serde_json::Value) -> serde_json::Value {
    let mut envelope = envelope;
    envelope["title"] = json!(format!("{MARK}-title"));
    envelope["body"] = json!(format!("{MARK}-body"));
    envelope["context"] = json!([{"kind": "text", "text": format!("{MARK}-context")}]);
    envelope["state"] = json!({"secret": format!("{MARK}-state")});
    envelope["client_ref"] = json!(format!("{MARK}-ref"));
    envelope
}

#[tokio::test(flavor = "multi_thread")]
async fn message_content_is_never_logged() {
    for level in ["debug", "trace"] {
        let hub = Setup::pushing().env("RUST_LOG", level).start().await;
        let receiver = Receiver::start().await;
        receiver.script("/logged", &[PushReply::Status(500)]);
        let bot = hub.agent("bot").await;
        hub.approve(&bot, &receiver.host()).await;
        let id = bot
            .accepted(&marked(push_to(input("bot"), &receiver.url("/logged"))))
            .await;
        let value = json!({"reason": format!("{MARK}-value")});
        let body = json!({"resolution": "answered", "value": value, "comment": format!("{MARK}-comment")});
        hub.owner.resolve(&id, body.clone()).await.expect(200);
        receiver.at("/logged", 2).await;
        // Error paths, where an error message could quote its input.
        hub.owner.resolve(&id, body).await.refused("already_terminal");
        let mut broken = marked(select("bot"));
        broken["request"]["default_on_expire"] = json!(format!("{MARK}-default"));
        bot.submit(&broken).await.refused("invalid_field");
        bot.post_bytes("/v1/messages", format!("{{\"title\":\"{MARK}-broken"))
            .await
            .refused("validation_error");
        let open = bot.accepted(&marked(select("bot"))).await;
        hub.owner
            .answer(&open, &format!("{MARK}-misfit"))
            .await
            .refused("invalid_field");
        hub.process().signal("INT");
        let tokens = [bot.token.clone(), bot.signing_key.clone()];
        let (ran, _scratch) = hub.into_finished();
        let logged = format!("{}{}", ran.stdout, ran.stderr);
        assert!(!logged.contains(MARK), "{level}: {}", lines_with(&logged, MARK));
        for token in tokens {
            assert!(!logged.contains(&token), "{level}: {}", lines_with(&logged, &token));
        }
        assert!(logged.contains(&id), "{level}: logs contain the message id:\n{logged}");
    }
}

fn lines_with(text: &str, wanted: &str) -> String {
    text.lines()
        .filter(|line| line.contains(wanted))
        .take(5)
        .collect::<Vec<_>>()
        .join("\n")
}
