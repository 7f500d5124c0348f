//! Database outages and recovery.

use super::{Cluster, until_waiters};
use crate::harness::*;
use crate::runs::stage::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_without_its_database_fails_fast_and_recovers() {
    let cluster = Cluster::start(1).await;
    let agent = cluster.agent("bot").await;
    let before = agent.accepted(&ask("bot")).await;
    cluster.wires[0].set_state(WireState::Cut);
    let refused = eventually("the hub notices", async || {
        let reply = agent.submit(&ask("bot")).await;
        (reply.status == 503).then_some(reply)
    })
    .await;
    let body = refused.refused("unavailable");
    assert_eq!(refused.header("retry-after"), "1");
    assert!(body["error"]["id"].is_string(), "{body}");
    // Twenty connection time-outs of 5 s would take far longer than this may.
    let refusals = async {
        for _ in 0..20 {
            assert_eq!(agent.submit(&ask("bot")).await.status, 503);
        }
    };
    within("twenty refusals", refusals).await;
    assert_eq!(cluster.hubs[0].anonymous().get("/ready").await.status, 503);
    assert_eq!(cluster.hubs[0].anonymous().get("/health").await.status, 200);
    cluster.wires[0].set_state(WireState::Open);
    eventually("the hub is ready", async || {
        (cluster.hubs[0].anonymous().get("/ready").await.status == 200).then_some(())
    })
    .await;
    let after = agent.accepted(&ask("bot")).await;
    for id in [before, after] {
        cluster.hubs[0].owner.answer(&id, "approve").await.expect(200);
        assert_eq!(agent.outcome(&id).await["status"], "answered");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_closed_by_the_database_do_not_fail_requests() {
    let cluster = Cluster::start(1).await;
    let agent = cluster.agent("bot").await;
    let end = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity \
         WHERE datname = current_database() AND pid <> pg_backend_pid()";
    for _ in 0..5 {
        for _ in 0..3 {
            agent.accepted(&ask("bot")).await;
        }
        cluster
            .database
            .connect()
            .await
            .batch_execute(end)
            .await
            .expect("the connections end");
        agent.accepted(&ask("bot")).await;
    }
    assert_eq!(cluster.database.number("SELECT count(*) FROM message").await, 20);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_poll_survives_an_outage() {
    let cluster = Cluster::start(1).await;
    let agent = cluster.agent("bot").await;
    let id = agent.accepted(&ask("bot")).await;
    let waiting = tokio::spawn({
        let api = agent.at(&cluster.hubs[0]);
        let id = id.clone();
        async move { api.outcome(&id).await }
    });
    until_waiters(&cluster.hubs[0], 1).await;
    // The waiter is registered before its first read, which fails fast. This read comes after it.
    agent.pull(&id).await;
    cluster.wires[0].set_state(WireState::Cut);
    eventually("the hub notices the outage", async || {
        (cluster.hubs[0].anonymous().get("/ready").await.status == 503).then_some(())
    })
    .await;
    cluster.wires[0].set_state(WireState::Open);
    eventually("the hub answers again", async || {
        (cluster.hubs[0].owner.answer(&id, "approve").await.status == 200).then_some(())
    })
    .await;
    let outcome = within("the long-poll", waiting)
        .await
        .expect("the same request returns");
    assert_eq!(outcome["response"]["response"]["value"], "approve");
}

#[tokio::test(flavor = "multi_thread")]
async fn ask_and_wait_commands_retry_through_an_outage() {
    let cluster = Cluster::start(1).await;
    let hub = &cluster.hubs[0];
    let wire = &cluster.wires[0];
    let agent = cluster.agent("bot").await;
    let terminal = Terminal::remote(hub, &hub.url, &agent);
    let id = agent.accepted(&ask("bot")).await;
    wire.set_state(WireState::Cut);
    eventually("the hub notices the outage", async || {
        (hub.anonymous().get("/ready").await.status == 503).then_some(())
    })
    .await;
    let waiting = terminal.start(&["wait", &id]);
    waiting.stderr_with("; retrying").await;
    let asking = terminal.start(&["ask", "Ship?", "--confirm", "--to", "human:owner", "--detach"]);
    asking.stderr_with("; retrying").await;
    wire.set_state(WireState::Open);
    eventually("the hub answers again", async || {
        (hub.owner.answer(&id, "approve").await.status == 200).then_some(())
    })
    .await;
    assert_eq!(waiting.finish().ok(), "approve\n");
    assert!(asking.finish().ok().contains("msg_"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_that_cannot_write_is_not_ready() {
    let cluster = Cluster::start(1).await;
    let ready = async |status: u16| {
        let probe = async || (cluster.hubs[0].anonymous().get("/ready").await.status == status).then_some(());
        eventually("readiness changes", probe).await;
    };
    ready(200).await;
    // Like a full disk: transactions without writes still commit.
    let refuse = "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE disk_full; END $$; \
         CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON setting FOR EACH ROW EXECUTE FUNCTION refuse()";
    cluster.database.execute(refuse).await;
    ready(503).await;
    cluster.database.execute("DROP TRIGGER refuse ON setting").await;
    ready(200).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_working_agent_survives_an_outage_longer_than_the_lease() {
    let cluster = Cluster::with_setup(2, || Setup::default().config("[runs]\ncommands = \"allow\"\n")).await;
    let mut latch = Latch::new(&cluster.hubs[0], "latch");
    let script = format!("cat {}; echo done", latch.path());
    let mut client = Client::connect(&cluster.hubs[0]).await;
    client
        .start_strategy(&cluster.hubs[0], &alone(command("sh", &["-c", &script])), "")
        .await;
    latch.until_reached().await;
    cluster.wires.iter().for_each(|wire| wire.set_state(WireState::Cut));
    let expired = "SELECT count(*) FROM node WHERE lease_until < extract(epoch FROM clock_timestamp()) * 1000";
    eventually("both leases have expired", async || {
        (cluster.database.number(expired).await == 2).then_some(())
    })
    .await;
    cluster.wires.iter().for_each(|wire| wire.set_state(WireState::Open));
    eventually("both leases are renewed", async || {
        (cluster.database.number(expired).await == 0).then_some(())
    })
    .await;
    latch.release();
    assert_eq!(client.result().await.trim_end(), "done");
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_lost_when_postgresql_restarts() {
    let mut postgres = OwnPostgres::start();
    let setup = Setup::default().database_url(&format!("{}?sslmode=disable", postgres.url()));
    let hub = setup.env("PGPASSWORD", PASSWORD).start().await;
    let agent = hub.agent("bot").await;
    let before = agent.accepted(&ask("bot")).await;
    let waiting = tokio::spawn({
        let api = agent.at(&hub);
        let id = before.clone();
        async move { api.outcome(&id).await }
    });
    until_waiters(&hub, 1).await;
    postgres.stop();
    let meanwhile = ask("bot");
    agent.submit(&meanwhile).await.refused("unavailable");
    assert_eq!(hub.anonymous().get("/ready").await.status, 503);
    postgres.start_again();
    eventually("the hub is ready", async || {
        (hub.anonymous().get("/ready").await.status == 200).then_some(())
    })
    .await;
    let after = agent.accepted(&meanwhile).await;
    for id in [&before, &after] {
        hub.owner.answer(id, "approve").await.expect(200);
        assert_eq!(agent.outcome(id).await["status"], "answered");
    }
    let waited = within("the long-poll", waiting).await.expect("no panic");
    assert_eq!(waited["response"]["response"]["value"], "approve");
    assert_eq!(postgres.number("SELECT count(*) FROM message").await, 2);
}
