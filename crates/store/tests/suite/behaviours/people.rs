use countersign_core::access::{Principal, Role};
use countersign_store::Store;
use countersign_store::clock::ManualClock;
use countersign_store::ops::account::ceremony::{BeginCeremony, TakeCeremony};
use countersign_store::ops::account::credential::{CredentialKind, StartSession};
use countersign_store::ops::account::passkey::{AddPasskey, AddPasskeyOutcome, FindPasskey};
use countersign_store::ops::account::password::{PasswordOf, SetPassword};
use countersign_store::ops::account::setting::{PutSetting, Setting};
use countersign_store::ops::admin::AddOutcome;
use countersign_store::ops::admin::people::{
    AccountChange, AddPerson, AddPersonToken, ListPeople, RemovePerson, SetRole,
};
use countersign_store::ops::list::ListSnoozed;
use countersign_store::ops::message::audit::Trail;

use super::audit::events_about;
use super::credentials::{add_person, authenticate, credential, person};
use super::sessions::session;
use super::snooze::put_away;
use super::terminals::remove_person;
use crate::scene::*;

pub async fn a_name_is_taken_once(store: &Store, _clock: &ManualClock) {
    assert!(add_person(store, "alice", Role::Resolver, "alice token").await);
    assert!(!add_person(store, "alice", Role::Owner, "usurper").await);
    assert_eq!(authenticate(store, "usurper").await, None);
    let first = Principal::Person {
        name: "alice".to_owned(),
        role: Role::Resolver,
    };
    assert_eq!(authenticate(store, "alice token").await, Some(first));
    let trail = store
        .run(Trail {
            subject: "human:alice".to_owned(),
        })
        .await
        .unwrap();
    assert_eq!((trail.len(), trail[0].entry.event.as_str()), (1, "person.added"));
}

pub async fn a_person_may_hold_several_tokens(store: &Store, clock: &ManualClock) {
    let token = |text, expires_at| AddPersonToken {
        name: "alice".to_owned(),
        token: credential(CredentialKind::Person, "alice", text, expires_at),
        actor: OWNER.to_owned(),
    };
    assert!(
        !store.run(token("early", None)).await.unwrap(),
        "the person does not exist yet"
    );
    assert_eq!(authenticate(store, "early").await, None);
    assert!(add_person(store, "alice", Role::Resolver, "first").await);
    assert!(store.run(token("second", None)).await.unwrap());
    assert!(store.run(token("brief", Some(at(10)))).await.unwrap());
    for text in ["first", "second", "brief"] {
        assert!(authenticate(store, text).await.is_some(), "{text}");
    }
    assert_eq!(store.run(ListPeople).await.unwrap()[0].tokens, 3);
    clock.set(at(11));
    assert_eq!(store.run(ListPeople).await.unwrap()[0].tokens, 2);
}

pub async fn the_list_names_actor_and_role(store: &Store, clock: &ManualClock) {
    assert!(add_person(store, "vera", Role::Viewer, "vera token").await);
    clock.set(at(5));
    let olga = AddPerson {
        name: "olga".to_owned(),
        reuse: false,
        role: Role::Owner,
        token: None,
        actor: OWNER.to_owned(),
    };
    assert_eq!(store.run(olga).await.unwrap(), AddOutcome::Added);
    let people = store.run(ListPeople).await.unwrap();
    let found: Vec<_> = people
        .iter()
        .map(|person| {
            (
                person.name.as_str(),
                person.actor.as_str(),
                person.role,
                person.created_at,
                person.tokens,
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            ("olga", "human:olga", Role::Owner, at(5), 0),
            ("vera", "human:vera", Role::Viewer, at(0), 1)
        ]
    );
}

pub async fn name_of_a_removed_person_is_given_again_only_on_purpose(store: &Store, _clock: &ManualClock) {
    assert!(add_person(store, "olga", Role::Owner, "olga token").await);
    assert!(add_person(store, "alice", Role::Resolver, "alice token").await);
    remove_person(store, "alice").await;
    let again = |reuse| AddPerson {
        name: "alice".to_owned(),
        reuse,
        role: Role::Resolver,
        token: None,
        actor: OWNER.to_owned(),
    };
    assert_eq!(store.run(again(false)).await.unwrap(), AddOutcome::UsedBefore);
    assert_eq!(store.run(ListPeople).await.unwrap().len(), 1, "nothing is left behind");
    assert_eq!(store.run(again(true)).await.unwrap(), AddOutcome::Added);
    let events = events_about(store, "alice").await;
    assert_eq!(events, ["person.added", "person.removed", "person.readded"]);
    for reuse in [false, true] {
        assert_eq!(store.run(again(reuse)).await.unwrap(), AddOutcome::Exists);
    }
}

async fn set_role(store: &Store, name: &str, role: Role) -> AccountChange {
    store
        .run(SetRole {
            name: name.to_owned(),
            role,
            actor: OWNER.to_owned(),
        })
        .await
        .unwrap()
}

pub async fn a_role_is_changed_for_every_token_at_once(store: &Store, _clock: &ManualClock) {
    assert!(add_person(store, "olga", Role::Owner, "olga token").await);
    assert!(add_person(store, "alice", Role::Resolver, "alice token").await);
    let start = StartSession {
        person: "alice".to_owned(),
        session: session("alice cookie", 100),
    };
    assert!(store.run(start).await.unwrap());
    for role in [Role::Viewer, Role::Owner, Role::Resolver] {
        assert_eq!(set_role(store, "alice", role).await, AccountChange::Done);
        for token in ["alice token", "alice cookie"] {
            assert_eq!(authenticate(store, token).await, person("alice", role));
        }
    }
    assert_eq!(set_role(store, "ghost", Role::Owner).await, AccountChange::NotFound);
    let made = ["person.made_viewer", "person.made_owner", "person.made_resolver"];
    assert_eq!(events_about(store, "alice").await[2..], made);
}

pub async fn last_owner_cannot_be_demoted_or_removed(store: &Store, _clock: &ManualClock) {
    assert!(add_person(store, "olga", Role::Owner, "olga token").await);
    assert!(add_person(store, "otto", Role::Owner, "otto token").await);
    assert_eq!(set_role(store, "otto", Role::Viewer).await, AccountChange::Done);
    for role in [Role::Viewer, Role::Resolver] {
        assert_eq!(set_role(store, "olga", role).await, AccountChange::LastOwner);
    }
    assert_eq!(
        set_role(store, "olga", Role::Owner).await,
        AccountChange::Done,
        "what she is she may become"
    );
    let remove = RemovePerson {
        name: "olga".to_owned(),
        actor: OWNER.to_owned(),
    };
    assert_eq!(store.run(remove).await.unwrap(), AccountChange::LastOwner);
    assert_eq!(authenticate(store, "olga token").await, person("olga", Role::Owner));
}

pub async fn removed_person_leaves_nothing_to_a_namesake(store: &Store, _clock: &ManualClock) {
    let name = || "alice".to_owned();
    assert!(add_person(store, "olga", Role::Owner, "olga token").await);
    assert!(add_person(store, "alice", Role::Resolver, "alice token").await);
    add_agent(store, BUILDER).await;
    submitted(store, &Draft::ask(1)).await;
    assert!(
        store
            .run(StartSession {
                person: name(),
                session: session("cookie", 100)
            })
            .await
            .unwrap()
    );
    let hash = Some("$argon2id$".to_owned());
    assert!(
        store
            .run(SetPassword {
                person: name(),
                hash,
                actor: OWNER.to_owned()
            })
            .await
            .unwrap()
    );
    let id = b"key".to_vec();
    let body = "{}".to_owned();
    let passkey = AddPasskey {
        person: name(),
        id: id.clone(),
        name: name(),
        body: body.clone(),
    };
    assert_eq!(store.run(passkey).await.unwrap(), AddPasskeyOutcome::Added);
    let ceremony = |person| BeginCeremony {
        id: name(),
        person,
        body: body.clone(),
        expires_at: at(100),
    };
    store.run(ceremony(Some(name()))).await.unwrap();
    assert!(put_away(store, "alice", 1, Some(at(100))).await);
    let views = || "views:alice".to_owned();
    let put = PutSetting {
        name: views(),
        value: "[]".to_owned(),
        actor: OWNER.to_owned(),
    };
    store.run(put).await.unwrap();

    let remove = RemovePerson {
        name: name(),
        actor: OWNER.to_owned(),
    };
    assert_eq!(store.run(remove).await.unwrap(), AccountChange::Done);
    assert!(add_person(store, "alice", Role::Resolver, "new token").await);
    assert_eq!(authenticate(store, "cookie").await, None);
    assert_eq!(store.run(PasswordOf { person: name() }).await.unwrap(), None);
    assert_eq!(store.run(FindPasskey { id }).await.unwrap(), None);
    assert_eq!(store.run(TakeCeremony { id: name() }).await.unwrap(), None);
    assert_eq!(store.run(Setting { name: views() }).await.unwrap(), None);
    assert!(
        store
            .run(ListSnoozed {
                person: name(),
                limit: 10
            })
            .await
            .unwrap()
            .is_empty()
    );
}
