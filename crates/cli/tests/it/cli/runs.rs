//! `countersign runs`: list, show, follow, continue and stop.

use serde_json::json;

use super::run::file_of;
use crate::harness::*;
use crate::runs::inbox::id_of;
use crate::runs::stage::*;

/// Waits for the question of the only run and returns its message id.
async fn asked(hub: &Hub) -> String {
    eventually("the run asks", async || {
        let items = hub.owner.get("/v1/inbox").await.expect(200)["items"].clone();
        items[0]["id"].as_str().map(str::to_owned)
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_detached_run_is_listed_shown_and_followed_to_its_end() {
    let hub = Hub::start().await;
    let file = file_of(&hub, &review());
    assert!(hub.cli(&["runs"]).ok().contains("No runs yet"));
    let run = hub
        .cli(&["run", &file, "--input", "fish", "--no-wait"])
        .ok()
        .trim()
        .to_owned();
    let id = eventually("the run asks", async || {
        let runs = hub.owner.get("/v1/runs").await.expect(200);
        runs["runs"][0]["waiting"][0]["message_id"].as_str().map(str::to_owned)
    })
    .await;
    let listed = hub.cli(&["runs"]).ok();
    let line = listed.lines().nth(1).expect("a run");
    for expected in [run.as_str(), "waiting", "Test strategy", "editor for "] {
        assert!(line.contains(expected), "{expected}: {listed}");
    }
    assert_eq!(hub.cli(&["runs", "--all", "--json"]).json()[0]["run_id"], run.as_str());
    let shown = hub.cli(&["runs", "show", &run]).ok();
    for expected in [
        &format!("countersign show {id}"),
        "Waits for editor",
        "  | Draft: fish",
        &file,
        "draft, editor, print",
    ] {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
    let mut follow = countersign(&hub.scratch().home());
    follow.args(["runs", "follow", &run, "--data"]).arg(hub.data());
    let ran = Process::spawn(follow, "fine\n").finish();
    assert!(
        ran.stderr.contains("Step draft\n  | Draft: fish\nStep draft done\n"),
        "from its beginning: {}",
        ran.stderr
    );
    assert_eq!(ran.ok(), "fine\n");
    let ran = hub.cli(&["runs", "follow", &run]);
    assert!(
        ran.stderr.contains("editor needs your input\n") && !ran.stderr.contains("Your answer"),
        "{}",
        ran.stderr
    );
    assert_eq!(ran.ok(), "fine\n", "what has ended can be read again");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_limit_bounds_the_list() {
    let hub = Hub::start().await;
    let file = file_of(&hub, &talk());
    for number in 0..3 {
        hub.cli(&["run", &file, "--input", "x", "--run-id", &format!("r{number}")])
            .ok();
    }
    let ids = |args: &[&str]| {
        let listed = hub.cli(&[&["runs", "--json"], args].concat()).json();
        listed
            .as_array()
            .unwrap()
            .iter()
            .map(|run| run["run_id"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(ids(&["--limit", "2"]), ["r2", "r1"]);
    assert_eq!(ids(&["--all"]), ["r2", "r1", "r0"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_has_ended_is_continued_and_followed_from_there() {
    let hub = Hub::start().await;
    let file = file_of(&hub, &talk());
    hub.cli(&["run", &file, "--input", "one", "--run-id", "r1"]).ok();
    let ran = hub.cli(&["runs", "continue", "r1", "--input", "two"]);
    assert!(!ran.stderr.contains("  | one"), "{}", ran.stderr);
    assert_eq!(ran.ok(), "two\n");
    let ran = hub.cli(&["runs", "follow", "r1"]);
    assert!(
        ran.stderr.contains("  | one\n") && ran.stderr.contains("  | two\n"),
        "both: {}",
        ran.stderr
    );
    assert_eq!(ran.ok(), "two\n", "the end of a segment is not the end of the run");
    let left = hub
        .cli(&["runs", "continue", "r1", "--input", "", "--no-wait", "--json"])
        .json();
    assert_eq!(left, json!({"run_id": "r1"}));
    let output = hub.cli(&["runs", "continue", "r1", "--input", "three"]).fails(1);
    assert!(output.contains("r1"), "{output}");
    hub.cli(&["runs", "stop", "r1"]).ok();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_id_in_use_is_refused_with_advice() {
    let hub = Hub::start().await;
    let file = file_of(&hub, &talk());
    let run = ["run", &file, "--run-id", "r1", "--input", "one"];
    hub.cli(&run).ok();
    let output = hub.cli(&run).fails(1);
    assert!(
        output.contains("r1 exists and has ended (completed)") && output.contains("runs continue r1"),
        "{output}"
    );
    assert_eq!(hub.cli(&["runs", "show", "r1", "--json"]).json()["status"], "completed");
    assert_eq!(hub.owner.get("/health").await.expect(200)["activeRuns"], 0);
    assert_eq!(hub.cli(&["runs", "continue", "r1", "--input", "two"]).ok(), "two\n");
    hub.cli(&["runs", "continue", "r1", "--no-wait"]).ok();
    for command in [&run[..], &["runs", "continue", "r1", "--input", "three"]] {
        let output = hub.cli(command).fails(1);
        assert!(
            output.contains("`countersign runs follow r1`") && !output.contains("_FAILED"),
            "{output}"
        );
    }
    assert_eq!(hub.cli(&["runs", "stop", "r1"]).ok(), "Run r1 is stopped.\n");
}

/// A timer that fires several times, for example.
#[tokio::test(flavor = "multi_thread")]
async fn concurrent_runs_with_one_id_start_once_and_leave_nothing_stuck() {
    let hub = Hub::start().await;
    let file = file_of(&hub, &talk());
    for id in ["r1", "r2", "r3"] {
        let start = |_| Terminal::local(&hub).start(&["run", &file, "--run-id", id, "--input", "one"]);
        let ran: Vec<_> = (0..6)
            .map(start)
            .collect::<Vec<_>>()
            .into_iter()
            .map(Process::finish)
            .collect();
        assert_eq!(ran.iter().filter(|ran| ran.code == 0).count(), 1, "{ran:?}");
        assert_eq!(hub.cli(&["runs", "show", id, "--json"]).json()["status"], "completed");
        assert_eq!(hub.cli(&["runs", "continue", id, "--input", "two"]).ok(), "two\n");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn refusals_name_the_run_and_not_a_message() {
    let hub = Hub::start().await;
    hub.cli(&["run", &file_of(&hub, &talk()), "--run-id", "r1", "--no-wait"])
        .ok();
    let id = asked(&hub).await;
    let output = hub.cli(&["answer", &id, "--decline"]).fails(1);
    assert!(
        output.contains("a run cannot be declined") && output.contains("`countersign runs stop r1`"),
        "{output}"
    );
    let vic = hub.person("vic", "viewer").await;
    let output = Terminal::local(&hub)
        .env("COUNTERSIGN_TOKEN", &vic.token)
        .run(&["runs", "stop", "r1"])
        .fails(1);
    assert!(output.contains("human:vic may not stop runs"), "{output}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_answer_is_abbreviated() {
    let hub = Hub::start().await;
    hub.cli(&["run", &file_of(&hub, &talk()), "--run-id", "r1", "--no-wait"])
        .ok();
    let id = asked(&hub).await;
    let mut command = countersign(&hub.scratch().home());
    command.args(["answer", &id, "-", "--data"]).arg(hub.data());
    let output = Process::spawn(command, "y".repeat(900_000)).finish().ok();
    assert!(
        output.contains("yyy… (900 KB) by owner") && output.len() < 500,
        "{} bytes",
        output.len()
    );
    let output = hub.cli(&["answer", &id, "again"]).fails(1);
    assert!(
        output.contains("is already answered yyy") && output.len() < 500,
        "{} bytes",
        output.len()
    );
    assert!(hub.cli(&["show", &id]).ok().len() > 900_000, "all of it is shown there");
}

#[tokio::test(flavor = "multi_thread")]
async fn ended_runs_are_not_stopped_and_unknown_runs_are_reported() {
    let hub = Hub::start().await;
    let file = file_of(&hub, &talk());
    hub.cli(&["run", &file, "--input", "x", "--run-id", "r1"]).ok();
    assert_eq!(
        hub.cli(&["runs", "stop", "r1"]).ok(),
        "Run r1 had already ended: completed.\n"
    );
    assert_eq!(hub.cli(&["runs", "stop", "r1", "--json"]).json()["status"], "completed");
    for command in ["show", "follow", "stop", "continue"] {
        let output = hub.cli(&["runs", command, "nobody"]).fails(1);
        assert!(
            output.contains("not found") || output.contains("no such"),
            "{command}: {output}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_of_a_run_names_its_agent_and_takes_an_empty_answer() {
    let hub = Hub::start().await;
    let file = file_of(&hub, &review());
    hub.cli(&["run", &file, "--input", "fish", "--run-id", "r1", "--no-wait"])
        .ok();
    let id = asked(&hub).await;
    assert_eq!(id, id_of(&hub, "r1").await);
    let listed = hub.cli(&["inbox"]).ok();
    assert!(listed.contains("  editor  ") && !listed.contains("editor#"), "{listed}");
    let shown = hub.cli(&["show", &id]).ok();
    for expected in [
        "Agent      editor, run r1",
        "Strategy   Test strategy",
        "(may be empty)",
        "countersign runs follow r1",
    ] {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
    assert!(!shown.contains("--skip"), "{shown}");
    let output = hub.cli(&["answer", &id, ""]).ok();
    assert!(output.starts_with("\"Draft: fish\" answered by owner"), "{output}");
    assert_eq!(hub.cli(&["runs", "follow", "r1"]).ok(), "");
}
