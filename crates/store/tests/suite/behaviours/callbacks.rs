use countersign_store::Store;
use countersign_store::clock::ManualClock;
use countersign_store::ops::admin::callbacks::{
    HostRefusal, IsApproved, ListHosts, MAX_PENDING_HOSTS, PutHost, RemoveHost,
};
use countersign_store::ops::message::audit::Trail;

use crate::scene::*;

async fn put(store: &Store, agent: &str, host: &str, approve: bool) -> Result<String, HostRefusal> {
    let agent_id = agent.to_owned();
    let host = host.to_owned();
    let actor = OWNER.to_owned();
    store
        .run(PutHost {
            agent_id,
            host,
            approve,
            actor,
        })
        .await
        .unwrap()
        .map(|stored| stored.state)
}

async fn remove(store: &Store, host: &str) -> bool {
    let agent_id = BUILDER.to_owned();
    let host = host.to_owned();
    let actor = OWNER.to_owned();
    store.run(RemoveHost { agent_id, host, actor }).await.unwrap()
}

async fn is_approved(store: &Store, host: &str) -> bool {
    store
        .run(IsApproved {
            agent_id: BUILDER.to_owned(),
            host: host.to_owned(),
        })
        .await
        .unwrap()
}

pub async fn a_registered_host_waits_for_approval(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    assert!(!is_approved(store, HOST).await);
    assert_eq!(put(store, BUILDER, HOST, false).await.as_deref(), Ok("pending"));
    assert!(!is_approved(store, HOST).await);
    assert_eq!(put(store, BUILDER, HOST, true).await.as_deref(), Ok("approved"));
    assert!(is_approved(store, HOST).await);
}

pub async fn an_approved_host_stays_approved(store: &Store, clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    assert_eq!(
        put(store, BUILDER, HOST, true).await.as_deref(),
        Ok("approved"),
        "without being registered first"
    );
    clock.set(at(5));
    assert_eq!(put(store, BUILDER, HOST, false).await.as_deref(), Ok("approved"));
    assert!(is_approved(store, HOST).await);
    let hosts = store.run(ListHosts { agent_id: None }).await.unwrap();
    assert_eq!((hosts.len(), hosts[0].created_at), (1, at(0)));
}

pub async fn a_removed_host_is_not_approved(store: &Store, _clock: &ManualClock) {
    add_agent(store, BUILDER).await;
    put(store, BUILDER, HOST, true).await.unwrap();
    assert!(remove(store, HOST).await);
    assert!(!is_approved(store, HOST).await);
    assert!(!remove(store, HOST).await, "there is nothing to remove");
    assert_eq!(
        put(store, BUILDER, HOST, false).await.as_deref(),
        Ok("pending"),
        "it has to be approved again"
    );
    let trail = store
        .run(Trail {
            subject: "agent:builder".to_owned(),
        })
        .await
        .unwrap();
    let events: Vec<_> = trail.iter().skip(1).map(|row| row.entry.event.as_str()).collect();
    assert_eq!(events, ["callback.approved", "callback.removed", "callback.registered"]);
}

pub async fn hosts_waiting_for_approval_are_limited(store: &Store, _clock: &ManualClock) {
    for agent in [BUILDER, TESTER] {
        add_agent(store, agent).await;
    }
    let host = |number: i64| format!("h{number}.example");
    for number in 0..MAX_PENDING_HOSTS {
        put(store, BUILDER, &host(number), false).await.unwrap();
    }
    let refused = Err(HostRefusal::TooManyPending);
    assert_eq!(put(store, BUILDER, "more.example", false).await, refused);
    for _ in 0..3 {
        let again = put(store, BUILDER, &host(0), false).await;
        assert_eq!(again.as_deref(), Ok("pending"), "a known host needs no room");
    }
    assert!(
        put(store, TESTER, "more.example", false).await.is_ok(),
        "another agent has its own"
    );
    let trail = store
        .run(Trail {
            subject: "agent:builder".to_owned(),
        })
        .await
        .unwrap();
    let registered = i64::try_from(trail.len() - 1).unwrap();
    assert_eq!(registered, MAX_PENDING_HOSTS, "registering again is no event");
    put(store, BUILDER, &host(0), true).await.unwrap();
    assert_eq!(
        put(store, BUILDER, "more.example", false).await.as_deref(),
        Ok("pending")
    );
}

pub async fn hosts_are_listed_by_agent(store: &Store, _clock: &ManualClock) {
    for (agent, host) in [
        (TESTER, "a.example"),
        (BUILDER, "b.example"),
        (BUILDER, "a.example:8443"),
    ] {
        if put(store, agent, host, false).await.is_err() {
            add_agent(store, agent).await;
            put(store, agent, host, false).await.unwrap();
        }
    }
    let list = async |agent_id: Option<&str>| {
        let hosts = store
            .run(ListHosts {
                agent_id: agent_id.map(str::to_owned),
            })
            .await
            .unwrap();
        hosts
            .into_iter()
            .map(|host| format!("{} {} {}", host.agent_id, host.host, host.state))
            .collect::<Vec<_>>()
    };
    let builders = ["builder a.example:8443 pending", "builder b.example pending"];
    assert_eq!(list(Some(BUILDER)).await, builders);
    assert_eq!(list(Some("nobody")).await, Vec::<String>::new());
    assert_eq!(list(None).await, [builders[0], builders[1], "tester a.example pending"]);
}

pub async fn a_host_needs_an_agent(store: &Store, _clock: &ManualClock) {
    for approve in [false, true] {
        assert_eq!(put(store, BUILDER, HOST, approve).await, Err(HostRefusal::NoAgent));
    }
    assert!(!is_approved(store, HOST).await);
    assert!(
        store
            .run(Trail {
                subject: "agent:builder".to_owned()
            })
            .await
            .unwrap()
            .is_empty()
    );
}
