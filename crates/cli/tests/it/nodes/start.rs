//! Hubs that start on a database: together, after each other, and on what is none.

use super::Cluster;
use crate::harness::*;

#[tokio::test(flavor = "multi_thread")]
async fn hubs_that_start_together_on_an_empty_database_become_one() {
    let database = Database::create().await;
    let start = || async { Setup::default().remembering_in(&database.url()).start().await };
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
async fn what_was_told_outlives_all_hubs() {
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
async fn a_hub_that_comes_back_after_a_kill_takes_its_own_place_at_once() {
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
    // Its lease would have lasted for seconds.
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
async fn a_hub_that_stops_leaves_the_others_and_their_tokens_alone() {
    let mut cluster = Cluster::start(2).await;
    assert_eq!(cluster.nodes().await, 2);
    let there = cluster.hubs[0].owner.clone();
    assert!(cluster.hubs[0].interrupt().success());
    cluster.hubs[1].owner.get("/v1/inbox").await.expect(200);
    eventually("one is left", async || (cluster.nodes().await == 1).then_some(())).await;
    let token = there
        .request(reqwest::Method::GET, "/v1/inbox")
        .build()
        .expect("a request");
    let token = token.headers()["authorization"]
        .to_str()
        .expect("text")
        .trim_start_matches("Bearer ")
        .to_owned();
    eventually("its tokens end with it", async || {
        (cluster.hubs[1].anonymous().bearer(&token).get("/v1/inbox").await.status == 401).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_flag_goes_before_the_environment_and_that_before_the_file() {
    let flag = Database::create().await;
    let env = Database::create().await;
    let file = Database::create().await;
    let by_file = || Setup::default().config(&format!("database_url = \"{}\"\n", file.url()));
    let by_env = || by_file().remembering_in(&env.url());
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
async fn a_node_is_sound_to_the_doctor_and_knows_how_many_there_are() {
    let cluster = Cluster::start(3).await;
    for hub in &cluster.hubs {
        let report = hub.cli(&["doctor", "--json"]);
        assert_eq!(report.code, 0, "{report:?}");
        assert_eq!(hub.owner.get("/v1/admin/status").await.expect(200)["nodes"], 3);
    }
}

#[test]
fn what_is_no_database_is_refused_in_words_and_without_its_password() {
    for (url, wanted) in [
        (
            "mysql://hub:s3cret@db.example/hub",
            "database_url: begin it with postgres://",
        ),
        (
            "postgres://hub:s3cret@127.0.0.1:1/hub?sslmode=disable",
            "cannot open the database",
        ),
        (
            "postgres://hub:s3cret@%2Fnowhere-at-all/hub",
            "cannot open the database",
        ),
        ("postgres://hub:s3cret@[/hub", "cannot be read"),
    ] {
        let ran = Setup::default().remembering_in(url).refused();
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
        let said = &ran.stderr;
        assert!(
            ran.code != 0 && said.contains("line 2") && !said.contains("s3cret"),
            "{line}: {said}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_log_holds_nothing_of_what_is_said_however_much_of_it_is_wanted() {
    let database = Database::create().await;
    let hub = Setup::default()
        .remembering_in(&database.url())
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
    assert!(logged.contains(&id), "ids are what logs are for");
    for secret in ["MARK-7f3a", &agent.token, &agent.signing_key] {
        assert!(!logged.contains(secret), "{secret}");
    }
}
