//! Zero set-up: where no hub runs, one is started, once, and stays.

use std::io::ErrorKind;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::json;

use super::fresh::{Fresh, is_ours, pid_of, signal};
use super::{answered, envelope};
use crate::harness::*;

const STARTED: &str = "started a hub in the background";

/// The one open request, once it is there.
async fn asked(owner: &Api) -> String {
    eventually("the request is there", async || {
        let listed = owner.get("/v1/inbox").await.expect(200);
        listed["items"][0]["id"].as_str().map(str::to_owned)
    })
    .await
}

async fn started(fresh: &Fresh, process: &Process) -> Api {
    process.stderr_with("sign in to the inbox").await;
    fresh.owner()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_request_starts_a_hub_that_stays() {
    let fresh = Fresh::new();
    let desk = fresh.desk();
    let process = desk.cue("gavonel", "Ship it?");
    let owner = started(&fresh, &process).await;
    owner.answer(&asked(&owner).await, "yes").await.expect(200);
    let ran = process.finish();
    let hub = fresh.hub();
    let link = hub["sign_in_url"].as_str().expect("a link");
    assert_eq!((ran.code, ran.stdout.as_str()), (0, answered("yes").as_str()));
    assert_eq!(ran.stderr.matches(link).count(), 1, "{}", ran.stderr);
    assert_eq!(ran.stderr.matches(STARTED).count(), 1, "{}", ran.stderr);
    assert!(is_ours(pid_of(&hub), &fresh.data()), "it outlives who started it");
    let again = desk.run(&["join", "codex"], "");
    assert_eq!(
        (again.code, again.stderr.as_str()),
        (0, ""),
        "the link is not told again"
    );
    assert_eq!(pid_of(&fresh.hub()), pid_of(&hub));
}

/// Every hub process on that data directory.
fn hubs_on(data: &Path) -> Vec<u64> {
    let all = std::fs::read_dir("/proc")
        .expect("/proc")
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    all.filter(|pid| is_ours(*pid, data)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn many_that_start_at_once_end_with_one_hub() {
    let fresh = Fresh::new();
    let desk = fresh.desk();
    let processes: Vec<Process> = (0..6).map(|_| desk.start(&["join", "codex"], "")).collect();
    let mut said = String::new();
    for process in processes {
        let ran = process.finish();
        assert_eq!(ran.code, 0, "{ran:?}");
        said.push_str(&ran.stderr);
    }
    assert_eq!(said.matches(STARTED).count(), 1, "{said}");
    assert_eq!(said.lines().count(), 2, "{said}");
    assert_eq!(hubs_on(&fresh.data()), [pid_of(&fresh.hub())]);
    let joined = fresh.owner().get("/v1/terminals").await.expect(200);
    assert_eq!(joined["terminals"].as_array().map(Vec::len), Some(6));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_hub_and_the_request_outlive_a_starter_that_is_killed() {
    let fresh = Fresh::new();
    let desk = fresh.desk();
    let mut process = desk.cue("gavonel", "Ship it?");
    let owner = started(&fresh, &process).await;
    let id = asked(&owner).await;
    process.kill();
    let pid = pid_of(&fresh.hub());
    owner.healthy().await;
    owner.answer(&id, "yes").await.expect(200);
    let ran = desk.cue("gavonel", "Ship it?").finish();
    assert!(ran.stderr.contains(&id), "{ran:?}");
    assert_eq!(ran.ok(), answered("yes"));
    assert_eq!(pid_of(&fresh.hub()), pid);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_kept_is_for_its_owner_only() {
    let fresh = Fresh::new();
    let desk = fresh.desk();
    let process = desk.cue("gavonel", "The log?");
    let owner = started(&fresh, &process).await;
    let body = json!({"resolution": "answered", "files": [{"name": "a", "data": "aGk="}]});
    owner.resolve(&asked(&owner).await, body).await.expect(200);
    process.finish().ok();
    let mode = |path: &Path| std::fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    assert_eq!(mode(&fresh.data()), 0o700);
    for name in ["hub.json", "hub.log", "start.lock"] {
        assert_eq!(mode(&fresh.data().join(name)), 0o600, "{name}");
    }
    let mut places = vec![fresh.data()];
    while let Some(place) = places.pop() {
        for entry in std::fs::read_dir(place).expect("a directory") {
            let path = entry.expect("an entry").path();
            assert_eq!(mode(&path) & 0o077, 0, "{}", path.display());
            if path.is_dir() {
                places.push(path);
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_that_was_killed_is_replaced() {
    let fresh = Fresh::new();
    let desk = fresh.desk();
    let agent_id = desk.join();
    let first = pid_of(&fresh.hub());
    signal(first, "KILL");
    eventually("it is gone", async || (!is_ours(first, &fresh.data())).then_some(())).await;
    let process = desk.cue(&agent_id, "Still here?");
    let owner = started(&fresh, &process).await;
    assert_ne!(pid_of(&fresh.hub()), first);
    owner.answer(&asked(&owner).await, "yes").await.expect(200);
    assert_eq!(process.finish().ok(), answered("yes"));
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_listens_where_a_hub_was_killed_hears_nothing() {
    let stranger = TcpListener::bind("127.0.0.1:0").expect("a port");
    stranger.set_nonblocking(true).expect("a look instead of a wait");
    let url = format!("http://{}", stranger.local_addr().expect("an address"));
    let fresh = Fresh::new();
    std::fs::create_dir(fresh.data()).expect("a directory");
    let left = json!({"url": url, "token": "csp_old", "terminal_token": "cst_old", "pid": u32::MAX});
    std::fs::write(fresh.data().join("hub.json"), left.to_string()).expect("what a killed hub leaves");
    std::fs::write(fresh.data().join("hub.lock"), "").expect("what nobody holds any more");
    let mut command = countersign(&fresh.home());
    command.args(["inbox", "--json", "--data"]).arg(fresh.data());
    let said = Process::spawn(command, "").finish().fails(1);
    assert!(said.contains("no hub is running"), "{said}");
    let said = fresh
        .desk()
        .run(&["cue", "gavonel", "-", "--no-start"], envelope("Hello?"))
        .fails(1);
    assert!(said.contains("no hub is running"), "{said}");
    let ran = fresh.desk().run(&["join", "codex"], "");
    assert!(ran.stderr.contains(STARTED), "{ran:?}");
    ran.ok();
    assert_ne!(fresh.hub()["url"], url);
    let heard = stranger.accept().map(drop).expect_err("nobody came");
    assert_eq!(heard.kind(), ErrorKind::WouldBlock);
}

#[test]
fn nothing_is_started_where_that_is_turned_off() {
    let fresh = Fresh::new();
    let off = fresh.desk().env("CUEME_START_HUB", "0");
    let refused = |ran: Ran| {
        let said = ran.fails(1);
        assert!(
            said.contains("no hub is running") && said.contains("countersign serve"),
            "{said}"
        );
    };
    refused(
        fresh
            .desk()
            .run(&["cue", "gavonel", "-", "--no-start"], envelope("Hello?")),
    );
    refused(off.run(&["join", "codex"], ""));
    refused(off.run(&["resume", "gavonel"], ""));
    let settings = fresh.home().join(".cue");
    std::fs::create_dir(&settings).expect("a directory");
    std::fs::write(settings.join("cueme.json"), r#"{"cueme.start_hub": false}"#).expect("settings");
    refused(fresh.desk().run(&["pause", "gavonel"], ""));
    assert!(!fresh.data().exists());
}

#[test]
fn a_hub_that_cannot_start_says_why() {
    let fresh = Fresh::new();
    std::fs::write(fresh.data(), "in the way").expect("a file");
    let said = fresh.desk().run(&["join", "codex"], "").fails(1);
    assert!(said.contains(&fresh.data().display().to_string()), "{said}");
    std::fs::remove_file(fresh.data()).expect("out of the way");
    std::fs::create_dir(fresh.data()).expect("a directory");
    std::fs::write(fresh.data().join("hub.db"), [b'x'; 8192]).expect("no database");
    let said = fresh.desk().run(&["join", "codex"], "").fails(1);
    assert!(said.contains("did not start") && said.contains("hub.log"), "{said}");
    assert_eq!(hubs_on(&fresh.data()), [] as [u64; 0]);
}
