//! Takeover of runs from a hub that is gone, slow, or missed the reply to its own claim.

use super::{Cluster, node_of};
use crate::harness::*;
use crate::runs::stage::*;

const COPIES: i64 = 1500;

async fn copy_run(cluster: &Cluster, run: &str) {
    let copies = format!(
        "INSERT INTO run_text SELECT (jsonb_populate_record(t, jsonb_build_object('seq', t.seq + n))).* \
         FROM run_text t JOIN run r ON r.seq = t.seq, generate_series(1, {COPIES}) n WHERE r.run_id = '{run}'; \
         INSERT INTO run SELECT (jsonb_populate_record(r, \
         jsonb_build_object('seq', r.seq + n, 'run_id', r.run_id || '-' || n))).* \
         FROM run r, generate_series(1, {COPIES}) n WHERE r.run_id = '{run}'"
    );
    cluster.database.execute(&copies).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn hubs_that_take_over_many_runs_keep_their_own_leases() {
    let mut cluster = Cluster::start(3).await;
    let mut client = Client::connect(&cluster.hubs[0]).await;
    let run = client.start_strategy(&cluster.hubs[0], &talk(), "").await;
    client.next_question().await;
    copy_run(&cluster, &run).await;
    let survivors: Vec<_> = cluster.hubs[1..].iter().map(node_of).collect();
    cluster.hubs[0].kill();
    // Each copy asks its question once it is taken over; the original already asked.
    let asked = "SELECT count(*) FROM run_ask WHERE done = 0";
    eventually("all runs continue", async || {
        (cluster.database.number(asked).await == COPIES + 1).then_some(())
    })
    .await;
    let repeated = "SELECT count(*) FROM (SELECT run_seq FROM run_ask GROUP BY run_seq HAVING count(*) > 1) AS twice";
    assert_eq!(cluster.database.number(repeated).await, 0, "no run has two owners");
    assert_eq!(
        cluster.hubs[1..].iter().map(node_of).collect::<Vec<_>>(),
        survivors,
        "no survivor was taken over"
    );
    let live = format!("SELECT count(*) FROM node WHERE id IN ('{}')", survivors.join("', '"));
    assert_eq!((cluster.database.number(&live).await, cluster.nodes().await), (2, 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_owned_without_the_hub_knowing_continues_there() {
    let mut cluster = Cluster::start(2).await;
    let mut client = Client::connect(&cluster.hubs[0]).await;
    let run = client.start_strategy(&cluster.hubs[0], &talk(), "").await;
    client.next_question().await;
    // As if the second hub had taken the run over but lost the reply of that transaction.
    let reassign = format!("UPDATE run SET node = '{}'", node_of(&cluster.hubs[1]));
    cluster.database.execute(&reassign).await;
    cluster.hubs[0].kill();
    let mut there = Client::connect(&cluster.hubs[1]).await;
    there.subscribe(&run).await;
    there.expect("request_input").await;
    there.answer(&run, "user", "hello").await;
    assert_eq!(there.result().await, "hello");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_that_cannot_rejoin_retries_until_it_can() {
    let mut cluster = Cluster::start(2).await;
    let mut client = Client::connect(&cluster.hubs[0]).await;
    let run = client.start_strategy(&cluster.hubs[0], &talk(), "").await;
    client.next_question().await;
    let before = node_of(&cluster.hubs[0]);
    cluster.hubs[0].freeze();
    eventually("its node is taken over", async || {
        (cluster.nodes().await == 1).then_some(())
    })
    .await;
    let refuse = "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'not now'; END $$; \
         CREATE TRIGGER refuse BEFORE INSERT ON node FOR EACH ROW EXECUTE FUNCTION refuse()";
    cluster.database.execute(refuse).await;
    cluster.hubs[0].thaw();
    cluster.hubs[0]
        .process()
        .stderr_with("registering this node under a new id failed")
        .await;
    cluster.hubs[0].owner.get("/v1/inbox").await.expect(200);
    cluster.database.execute("DROP TRIGGER refuse ON node").await;
    eventually("it has a node again", async || {
        (cluster.nodes().await == 2).then_some(())
    })
    .await;
    Client::connect(&cluster.hubs[1])
        .await
        .answer(&run, "user", "hello")
        .await;
    assert_eq!(client.result().await, "hello", "its follower here still follows");
    let after = node_of(&cluster.hubs[0]);
    assert_ne!(before, after, "the node file has the new id");
    cluster.hubs[0].kill();
    cluster.hubs[0].restart().await;
    let old = format!("SELECT count(*) FROM node WHERE id = '{after}'");
    assert_eq!(
        cluster.database.number(&old).await,
        0,
        "the old node was replaced at once"
    );
}
