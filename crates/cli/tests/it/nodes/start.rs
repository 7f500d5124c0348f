//! Starting hubs on a database: together, one after the other, and with a bad database URL.

use super::Cluster;
use crate::harness::*;

#[tokio::test(flavor = "multi_thread")]
async fn hubs_started_together_on_an_empty_database_share_it() {
    let database = Database::create().await;
    let start = || async { Setup::default().database_url(&database.url()).start().await };
    let (one, two, three) = tokio::join!(start(), start(), start());
    for hub in [&one, &two, &three] {
        let people = hub.owner.get("/v1/admin/people").await.expect(200);
        assert_eq!(people["people"].as_array().map(Vec::len), Some(1), "{people}");
    }
    let agent = one.agent("bot").await;
    let id = agent.at(&two).accepted(&ask("bot")).await;
    three.owner.answer(&id, "approve").await.expect(200);
    assert_eq!(agent.outcome(&id).await["status"], "answered");
    let valid = "SELECT count(*) FROM hub_key WHERE retires_at IS NULL";
    assert_eq!(database.number(valid).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_survive_the_kill_of_all_hubs() {
    let mut cluster = Cluster::start(2).await;
    let agent = cluster.agent("bot").await;
    let id = agent.accepted(&ask("bot")).await;
    cluster.hubs.iter_mut().for_each(Hub::kill);
    for hub in &mut cluster.hubs {
        hub.restart().await;
    }
    cluster.hubs[1].owner.answer(&id, "approve").await.expect(200);
    assert_eq!(agent.outcome(&id).await["response"]["response"]["value"], "approve");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restarted_hub_replaces_its_old_node_at_once() {
    let mut cluster = Cluster::start(1).await;
    let last = cluster
        .database
        .connect()
        .await
        .query_one("SELECT id FROM node", &[])
        .await
        .expect("one");
    cluster.hubs[0].kill();
    cluster.hubs[0].restart().await;
    // The lease of the killed node would have lasted for seconds.
    let nodes = cluster
        .database
        .connect()
        .await
        .query("SELECT id FROM node", &[])
        .await
        .expect("one");
    assert_eq!(nodes.len(), 1);
    assert_ne!(nodes[0].get::<_, String>(0), last.get::<_, String>(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopping_hub_does_not_affect_the_others_and_its_tokens_end() {
    let mut cluster = Cluster::start(2).await;
    assert_eq!(cluster.nodes().await, 2);
    let there = cluster.hubs[0].owner.clone();
    assert!(cluster.hubs[0].interrupt().success());
    cluster.hubs[1].owner.get("/v1/inbox").await.expect(200);
    eventually("one node is left", async || (cluster.nodes().await == 1).then_some(())).await;
    let token = there
        .request(reqwest::Method::GET, "/v1/inbox")
        .build()
        .expect("a request");
    let token = token.headers()["authorization"]
        .to_str()
        .expect("text")
        .trim_start_matches("Bearer ")
        .to_owned();
    eventually("the tokens of the stopped hub end", async || {
        (cluster.hubs[1].anonymous().bearer(&token).get("/v1/inbox").await.status == 401).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_database_flag_beats_the_environment_which_beats_the_file() {
    let flag = Database::create().await;
    let env = Database::create().await;
    let file = Database::create().await;
    let by_file = || Setup::default().config(&format!("database_url = \"{}\"\n", file.url()));
    let by_env = || by_file().database_url(&env.url());
    let by_flag = || by_env().args(&["--database-url", &flag.url()]);
    let tables = "SELECT count(*) FROM pg_tables WHERE tablename = 'node'";
    let untouched = async |database: &Database| database.number(tables).await == 0;
    let nodes = async |database: &Database| database.number("SELECT count(*) FROM node").await;
    let _one = by_flag().start().await;
    assert!(nodes(&flag).await == 1 && untouched(&env).await && untouched(&file).await);
    let _two = by_env().start().await;
    assert!(nodes(&flag).await == 1 && nodes(&env).await == 1 && untouched(&file).await);
    let _three = by_file().start().await;
    assert_eq!([nodes(&flag).await, nodes(&env).await, nodes(&file).await], [1, 1, 1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn doctor_passes_on_every_node_and_status_counts_the_nodes() {
    let cluster = Cluster::start(3).await;
    for hub in &cluster.hubs {
        let report = hub.cli(&["doctor", "--json"]);
        assert_eq!(report.code, 0, "{report:?}");
        assert_eq!(hub.owner.get("/v1/admin/status").await.expect(200)["nodes"], 3);
    }
}

#[test]
fn a_bad_database_url_is_refused_without_printing_its_password() {
    for (url, wanted) in [
        (
            "mysql://hub:s3cret@db.example/hub",
            "database_url: must begin with postgres://",
        ),
        (
            "postgres://hub:s3cret@127.0.0.1:1/hub?sslmode=disable",
            "cannot open the database",
        ),
        (
            "postgres://hub:s3cret@%2Fnowhere-at-all/hub",
            "cannot open the database",
        ),
        ("postgres://hub:s3cret@[/hub", "the database URL is invalid"),
    ] {
        let setup = Setup::default().args(&["--wait-for-database", "0"]);
        let ran = setup.database_url(url).refused();
        assert_ne!(ran.code, 0);
        assert!(
            ran.stderr.contains(wanted) && !ran.stderr.contains("s3cret"),
            "{url}: {}",
            ran.stderr
        );
    }
    let config = "database_url = \"mysql://hub:s3cret@db.example/hub\"\n";
    let ran = Setup::default().config(config).refused();
    assert!(
        ran.stderr.contains("postgres://") && !ran.stderr.contains("s3cret"),
        "{}",
        ran.stderr
    );
    for line in [
        "database_url = \"postgres://hub:s3cret@db.example/hub\" oops",
        "database_url = \"postgres://hub:s3cret@db.example/hub",
        "database_url = postgres://hub:s3cret@db.example/hub",
        "database_url = [\"postgres://hub:s3cret@db.example/hub\"]",
    ] {
        let ran = Setup::default()
            .config(&format!("retention_days = 30\n{line}\n"))
            .refused();
        let stderr = &ran.stderr;
        assert!(
            ran.code != 0 && stderr.contains("line 2") && !stderr.contains("s3cret"),
            "{line}: {stderr}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn message_content_is_not_logged_at_trace_level() {
    let database = Database::create().await;
    let hub = Setup::default()
        .database_url(&database.url())
        .env("RUST_LOG", "trace")
        .start()
        .await;
    let agent = hub.agent("bot").await;
    let mut envelope = ask("bot");
    envelope["body"] = serde_json::json!("MARK-7f3a");
    let id = agent.accepted(&envelope).await;
    hub.owner.answer(&id, "approve").await.expect(200);
    hub.process().signal("INT");
    let (ran, _scratch) = hub.into_finished();
    let logged = format!("{}{}", ran.stdout, ran.stderr);
    assert!(logged.contains(&id), "logs contain the message id");
    for secret in ["MARK-7f3a", &agent.token, &agent.signing_key] {
        assert!(!logged.contains(secret), "{secret}");
    }
}
