use std::time::Duration;

use countersign_core::message::{Callback, CallbackCredential};
use countersign_protocol::a2h::AuthScheme;
use countersign_store::Store;
use countersign_store::clock::ManualClock;
use countersign_store::model::{PushContext, SignatureAlg};
use countersign_store::ops::account::credential::Authenticate;
use countersign_store::ops::admin::AddOutcome;
use countersign_store::ops::admin::agents::{AddAgent, RemoveAgent, RotateAgent};
use countersign_store::ops::admin::callbacks::{IsApproved, PutHost};
use countersign_store::ops::admin::keys::ConfirmRotation;
use countersign_store::ops::admin::secrets::PutSecret;
use countersign_store::ops::deliver::LoadPushContext;

use super::audit::trail;
use crate::scene::*;

async fn push_context(store: &Store, number: u64) -> PushContext {
    store
        .run(LoadPushContext(message_id(number)))
        .await
        .unwrap()
        .expect("there is something to bring")
}

async fn approve(store: &Store, agent: &str, host: &str) {
    let agent_id = agent.to_owned();
    let host = host.to_owned();
    let actor = OWNER.to_owned();
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

async fn set_secret(store: &Store, agent: &str, name: &str, value: &str) {
    let agent_id = agent.to_owned();
    let name = name.to_owned();
    let value = value.to_owned();
    let actor = OWNER.to_owned();
    assert!(
        store
            .run(PutSecret {
                agent_id,
                name,
                value,
                actor
            })
            .await
            .unwrap()
    );
}

async fn rotate(store: &Store, key: &str) {
    let rotation = RotateAgent {
        id: BUILDER.to_owned(),
        token_hash: hash_of(key),
        signing_key: key.to_owned(),
        overlap: Duration::from_millis(100),
        actor: OWNER.to_owned(),
    };
    store.run(rotation).await.unwrap().expect("the agent is there");
}

/// Whether a callback to `host` is approved, as checked on submit and again on delivery.
async fn is_approved(store: &Store, number: u64, host: &str) -> bool {
    submitted_and_resolved(
        store,
        &Draft {
            callback: Some(callback_to(host)),
            ..Draft::ask(number)
        },
    )
    .await;
    let at_submit = store
        .run(IsApproved {
            agent_id: BUILDER.to_owned(),
            host: host.to_owned(),
        })
        .await
        .unwrap();
    assert_eq!(
        push_context(store, number).await.host_approved,
        at_submit,
        "both ask the same question about {host}"
    );
    at_submit
}

pub async fn push_context_holds_everything_an_attempt_needs(store: &Store, clock: &ManualClock) {
    let agent = AddAgent {
        id: BUILDER.to_owned(),
        reuse: false,
        signature_alg: SignatureAlg::Ed25519,
        token_hash: hash_of("token"),
        signing_key: "key".to_owned(),
        actor: OWNER.to_owned(),
    };
    assert_eq!(store.run(agent).await.unwrap(), AddOutcome::Added);
    clock.set(at(5));
    let draft = Draft::pushed(1);
    let resolution = submitted_and_resolved(store, &draft).await;
    let push_context = push_context(store, 1).await;
    assert_eq!(push_context.resolution, resolution);
    assert_eq!(
        (push_context.view.wire, push_context.view.source),
        (draft.wire(), draft.source())
    );
    assert_eq!(
        (push_context.view.id, push_context.view.agent_id.as_str()),
        (draft.id(), BUILDER)
    );
    assert_eq!(
        (Some(push_context.callback), push_context.signature_alg),
        (draft.callback, SignatureAlg::Ed25519)
    );
    assert_eq!(
        (
            push_context.signing_keys,
            push_context.secret,
            push_context.host_approved
        ),
        (vec!["key".to_owned()], None, false)
    );
}

pub async fn no_push_context_without_something_to_deliver(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    submitted(store, &Draft::pushed(1)).await;
    submitted_and_resolved(store, &Draft::ask(2)).await;
    submitted(store, &Draft::notify(3)).await;
    submitted_and_resolved(store, &Draft::pushed(4)).await;
    assert!(
        store
            .run(RemoveAgent {
                id: BUILDER.to_owned(),
                actor: OWNER.to_owned()
            })
            .await
            .unwrap()
    );
    for (number, why) in [
        (1, "open"),
        (2, "no callback"),
        (3, "a notify"),
        (4, "the agent is gone"),
        (9, "unknown"),
    ] {
        assert!(
            store.run(LoadPushContext(message_id(number))).await.unwrap().is_none(),
            "{why}"
        );
    }
}

pub async fn a_host_is_approved_by_its_name_for_every_port(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    approve(store, BUILDER, "hooks.example").await;
    approve(store, BUILDER, "[2001:db8::1]").await;
    let hosts = [
        "hooks.example",
        "hooks.example:8443",
        "[2001:db8::1]",
        "[2001:db8::1]:8443",
    ];
    for (number, host) in (1..).zip(hosts) {
        assert!(is_approved(store, number, host).await, "{host}");
    }
    let strangers = [
        "example",
        "evil.hooks.example",
        "hooks.example.evil:443",
        "[2001:db8::2]",
        "[2001:db8::2]:443",
    ];
    for (number, host) in (10..).zip(strangers) {
        assert!(!is_approved(store, number, host).await, "{host}");
    }
}

pub async fn a_host_is_approved_by_name_and_port_for_that_port(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    approve(store, BUILDER, "hooks.example:8443").await;
    approve(store, BUILDER, "[2001:db8::1]:8443").await;
    for (number, host) in [(1, "hooks.example:8443"), (2, "[2001:db8::1]:8443")] {
        assert!(is_approved(store, number, host).await, "{host}");
    }
    let others = [
        "hooks.example",
        "hooks.example:443",
        "hooks.example:84433",
        "[2001:db8::1]",
        "[2001:db8::1]:1",
    ];
    for (number, host) in (10..).zip(others) {
        assert!(!is_approved(store, number, host).await, "{host}");
    }
}

pub async fn an_approval_belongs_to_one_agent(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    add_agent(store, TESTER).await;
    approve(store, TESTER, HOST).await;
    assert!(!is_approved(store, 1, HOST).await);
    approve(store, BUILDER, HOST).await;
    assert!(
        push_context(store, 1).await.host_approved,
        "an approval that comes later counts"
    );
}

pub async fn the_named_secret_is_that_of_the_agent(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    add_agent(store, TESTER).await;
    let auth = Some(CallbackCredential {
        scheme: AuthScheme::Bearer,
        reference: "hook".to_owned(),
    });
    let callback = Callback {
        auth,
        ..callback_to(HOST)
    };
    submitted_and_resolved(
        store,
        &Draft {
            callback: Some(callback.clone()),
            ..Draft::ask(1)
        },
    )
    .await;
    assert_eq!(push_context(store, 1).await.callback, callback);
    set_secret(store, TESTER, "hook", "another agent's").await;
    set_secret(store, BUILDER, "other", "another name").await;
    assert_eq!(push_context(store, 1).await.secret, None);
    set_secret(store, BUILDER, "hook", "the one").await;
    assert_eq!(push_context(store, 1).await.secret.as_deref(), Some("the one"));
}

pub async fn keys_come_newest_first_until_the_old_ones_retire(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    submitted_and_resolved(store, &Draft::pushed(1)).await;
    clock.set(at(10));
    rotate(store, "the second key").await;
    assert_eq!(
        push_context(store, 1).await.signing_keys,
        ["the second key", "builder key"]
    );
    clock.set(at(50));
    rotate(store, "1 third key").await;
    assert_eq!(
        push_context(store, 1).await.signing_keys,
        ["1 third key", "the second key", "builder key"]
    );
    clock.set(at(110));
    assert_eq!(
        push_context(store, 1).await.signing_keys.len(),
        3,
        "valid to the last millisecond"
    );
    clock.set(at(111));
    assert_eq!(
        push_context(store, 1).await.signing_keys,
        ["1 third key", "the second key"]
    );
    clock.set(at(151));
    assert_eq!(push_context(store, 1).await.signing_keys, ["1 third key"]);
    for number in 4..=9 {
        clock.set(at(151 + number));
        rotate(store, &format!("key {number}")).await;
    }
    assert_eq!(
        push_context(store, 1).await.signing_keys,
        ["key 9", "key 8", "key 7", "1 third key"],
        "the oldest one may be the only one that the agent has"
    );
}

/// Authenticates with the token of `rotate(key)`, as a call does, and confirms its rotation if that is due.
async fn call_with(store: &Store, key: &str) -> bool {
    let hash = hash_of(key);
    let credential = store.run(Authenticate { hash }).await.unwrap();
    let confirms = credential.expect("the token is valid").confirms_rotation;
    let confirmation = || ConfirmRotation {
        agent_id: BUILDER.to_owned(),
        token_hash: hash,
    };
    if confirms {
        // Two nodes may notice at once: the second one finds nothing to do.
        let (first, second) = tokio::join!(store.run(confirmation()), store.run(confirmation()));
        first.and(second).unwrap();
    }
    confirms
}

pub async fn a_call_with_the_new_token_retires_the_older_keys(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    submitted_and_resolved(store, &Draft::pushed(1)).await;
    assert!(!call_with(store, "builder token").await, "there is one key");
    clock.set(at(10));
    rotate(store, "the second key").await;
    assert!(
        !call_with(store, "builder token").await,
        "the old token confirms nothing"
    );
    clock.set(at(20));
    rotate(store, "the third key").await;
    let keys = async || push_context(store, 1).await.signing_keys;
    assert_eq!(keys().await, ["the third key", "the second key", "builder key"]);
    // Although it is not the newest token, its call shows that the first key is no longer needed.
    assert!(call_with(store, "the second key").await);
    assert_eq!(keys().await, ["the third key", "the second key"]);
    assert!(!call_with(store, "the second key").await && !call_with(store, "builder token").await);
    assert!(call_with(store, "the third key").await);
    assert_eq!(keys().await, ["the third key"]);
    assert!(!call_with(store, "the third key").await);
    let trail = trail(store, "agent:builder").await;
    let confirmed: Vec<_> = trail
        .iter()
        .filter(|row| row.entry.event == "agent.rotation_confirmed")
        .map(|row| row.entry.actor.as_str())
        .collect();
    assert_eq!(confirmed, ["agent:builder", "agent:builder"]);
}

pub async fn a_key_that_has_retired_needs_no_confirmation(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    clock.set(at(10));
    rotate(store, "the second key").await;
    clock.set(at(111));
    assert!(!call_with(store, "the second key").await);
}
