//! Zero setup: `cueme` starts a hub if none runs, only one, and the hub stays.

use std::io::ErrorKind;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::json;

use super::fresh_machine::{FreshMachine, is_hub_on, pid_of, signal};
use super::{answered, envelope};
use crate::harness::*;

const STARTED: &str = "started a hub in the background";

/// Waits for the open request and returns its id.
async fn open_request(owner: &Api) -> String {
    eventually("the request is open", async || {
        let listed = owner.get("/v1/inbox").await.expect(200);
        listed["items"][0]["id"].as_str().map(str::to_owned)
    })
    .await
}

async fn started_hub(machine: &FreshMachine, process: &Process) -> Api {
    process.stderr_with("sign in to the inbox").await;
    machine.owner()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_request_starts_a_hub_that_stays() {
    let machine = FreshMachine::new();
    let shell = machine.shell();
    let process = shell.cue("gavonel", "Ship it?");
    let owner = started_hub(&machine, &process).await;
    owner.answer(&open_request(&owner).await, "yes").await.expect(200);
    let ran = process.finish();
    let hub = machine.hub();
    let link = hub["sign_in_url"].as_str().expect("a link");
    assert_eq!((ran.code, ran.stdout.as_str()), (0, answered("yes").as_str()));
    assert_eq!(ran.stderr.matches(link).count(), 1, "{}", ran.stderr);
    assert_eq!(ran.stderr.matches(STARTED).count(), 1, "{}", ran.stderr);
    assert!(is_hub_on(pid_of(&hub), &machine.data()), "the hub outlives its starter");
    let again = shell.run(&["join", "codex"], "");
    assert_eq!((again.code, again.stderr.as_str()), (0, ""), "the link is printed once");
    assert_eq!(pid_of(&machine.hub()), pid_of(&hub));
}

/// All hub processes on this data directory.
fn hubs_on(data: &Path) -> Vec<u64> {
    let all = std::fs::read_dir("/proc")
        .expect("/proc")
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    all.filter(|pid| is_hub_on(*pid, data)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_starts_end_with_one_hub() {
    let machine = FreshMachine::new();
    let shell = machine.shell();
    let processes: Vec<Process> = (0..6).map(|_| shell.start(&["join", "codex"], "")).collect();
    let mut text = String::new();
    for process in processes {
        let ran = process.finish();
        assert_eq!(ran.code, 0, "{ran:?}");
        text.push_str(&ran.stderr);
    }
    assert_eq!(text.matches(STARTED).count(), 1, "{text}");
    assert_eq!(text.lines().count(), 2, "{text}");
    assert_eq!(hubs_on(&machine.data()), [pid_of(&machine.hub())]);
    let joined = machine.owner().get("/v1/terminals").await.expect(200);
    assert_eq!(joined["terminals"].as_array().map(Vec::len), Some(6));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_hub_and_the_request_survive_the_kill_of_the_starter() {
    let machine = FreshMachine::new();
    let shell = machine.shell();
    let mut process = shell.cue("gavonel", "Ship it?");
    let owner = started_hub(&machine, &process).await;
    let id = open_request(&owner).await;
    process.kill();
    let pid = pid_of(&machine.hub());
    owner.healthy().await;
    owner.answer(&id, "yes").await.expect(200);
    let ran = shell.cue("gavonel", "Ship it?").finish();
    assert!(ran.stderr.contains(&id), "{ran:?}");
    assert_eq!(ran.ok(), answered("yes"));
    assert_eq!(pid_of(&machine.hub()), pid);
}

#[tokio::test(flavor = "multi_thread")]
async fn stored_files_are_readable_by_their_owner_only() {
    let machine = FreshMachine::new();
    let shell = machine.shell();
    let process = shell.cue("gavonel", "The log?");
    let owner = started_hub(&machine, &process).await;
    let body = json!({"resolution": "answered", "files": [{"name": "a", "data": "aGk="}]});
    owner.resolve(&open_request(&owner).await, body).await.expect(200);
    process.finish().ok();
    let mode = |path: &Path| std::fs::metadata(path).expect("the path exists").permissions().mode() & 0o777;
    assert_eq!(mode(&machine.data()), 0o700);
    for name in ["hub.json", "hub.log", "start.lock"] {
        assert_eq!(mode(&machine.data().join(name)), 0o600, "{name}");
    }
    let mut directories = vec![machine.data()];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(directory).expect("a directory") {
            let path = entry.expect("an entry").path();
            assert_eq!(mode(&path) & 0o077, 0, "{}", path.display());
            if path.is_dir() {
                directories.push(path);
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_that_was_killed_is_replaced() {
    let machine = FreshMachine::new();
    let shell = machine.shell();
    let agent_id = shell.join();
    let first = pid_of(&machine.hub());
    signal(first, "KILL");
    eventually("the hub is gone", async || {
        (!is_hub_on(first, &machine.data())).then_some(())
    })
    .await;
    let process = shell.cue(&agent_id, "Still here?");
    let owner = started_hub(&machine, &process).await;
    assert_ne!(pid_of(&machine.hub()), first);
    owner.answer(&open_request(&owner).await, "yes").await.expect(200);
    assert_eq!(process.finish().ok(), answered("yes"));
}

#[tokio::test(flavor = "multi_thread")]
async fn no_request_goes_to_a_stranger_on_a_killed_hubs_port() {
    let stranger = TcpListener::bind("127.0.0.1:0").expect("a port");
    stranger.set_nonblocking(true).expect("a nonblocking socket");
    let url = format!("http://{}", stranger.local_addr().expect("an address"));
    let machine = FreshMachine::new();
    std::fs::create_dir(machine.data()).expect("a directory");
    let stale = json!({"url": url, "token": "csp_old", "terminal_token": "cst_old", "pid": u32::MAX});
    std::fs::write(machine.data().join("hub.json"), stale.to_string()).expect("a stale hub.json");
    std::fs::write(machine.data().join("hub.lock"), "").expect("an unheld lock file");
    let mut command = countersign(&machine.home());
    command.args(["inbox", "--json", "--data"]).arg(machine.data());
    let stderr = Process::spawn(command, "").finish().fails(1);
    assert!(stderr.contains("no hub is running"), "{stderr}");
    let stderr = machine
        .shell()
        .run(&["cue", "gavonel", "-", "--no-start"], envelope("Hello?"))
        .fails(1);
    assert!(stderr.contains("no hub is running"), "{stderr}");
    let ran = machine.shell().run(&["join", "codex"], "");
    assert!(ran.stderr.contains(STARTED), "{ran:?}");
    ran.ok();
    assert_ne!(machine.hub()["url"], url);
    let no_call = stranger.accept().map(drop).expect_err("no connection");
    assert_eq!(no_call.kind(), ErrorKind::WouldBlock);
}

#[test]
fn no_hub_is_started_when_that_is_turned_off() {
    let machine = FreshMachine::new();
    let off = machine.shell().env("CUEME_START_HUB", "0");
    let refused = |ran: CommandOutput| {
        let stderr = ran.fails(1);
        assert!(
            stderr.contains("no hub is running") && stderr.contains("countersign serve"),
            "{stderr}"
        );
    };
    refused(
        machine
            .shell()
            .run(&["cue", "gavonel", "-", "--no-start"], envelope("Hello?")),
    );
    refused(off.run(&["join", "codex"], ""));
    refused(off.run(&["resume", "gavonel"], ""));
    let settings = machine.home().join(".cue");
    std::fs::create_dir(&settings).expect("a directory");
    std::fs::write(settings.join("cueme.json"), r#"{"cueme.start_hub": false}"#).expect("settings");
    refused(machine.shell().run(&["pause", "gavonel"], ""));
    assert!(!machine.data().exists());
}

#[test]
fn a_hub_that_cannot_start_says_why() {
    let machine = FreshMachine::new();
    std::fs::write(machine.data(), "in the way").expect("a file");
    let stderr = machine.shell().run(&["join", "codex"], "").fails(1);
    assert!(stderr.contains(&machine.data().display().to_string()), "{stderr}");
    std::fs::remove_file(machine.data()).expect("out of the way");
    std::fs::create_dir(machine.data()).expect("a directory");
    std::fs::write(machine.data().join("hub.db"), [b'x'; 8192]).expect("a broken database");
    let stderr = machine.shell().run(&["join", "codex"], "").fails(1);
    assert!(
        stderr.contains("did not start") && stderr.contains("hub.log"),
        "{stderr}"
    );
    assert_eq!(hubs_on(&machine.data()), [] as [u64; 0]);
}
