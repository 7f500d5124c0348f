use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::{AgentShell, envelope, wait_for_request};
use crate::harness::*;

fn file(name: &str, media_type: Option<&str>, bytes: &[u8]) -> Value {
    json!({"name": name, "media_type": media_type, "data": STANDARD.encode(bytes)})
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).expect("the path exists").permissions().mode() & 0o777
}

#[tokio::test(flavor = "multi_thread")]
async fn files_are_saved_under_their_own_names_and_printed_as_paths() {
    let hub = Hub::start().await;
    let shell = AgentShell::with_hub(&hub);
    let large: Vec<u8> = (0..3_000_000_u32).map(|nth| (nth % 251) as u8).collect();
    let (process, id) = shell.waiting(&hub, "gavonel", "Any notes?").await;
    let hidden = [
        file(".env", None, b"dot"),
        file("env", None, b"plain"),
        file("...", None, b"dots"),
    ];
    let files = [
        file("nötes 1.txt", Some("text/plain"), b"hello\n"),
        file("large.bin", None, &large),
    ];
    let files: Vec<Value> = files.into_iter().chain(hidden).collect();
    let body = json!({"resolution": "answered", "value": "see there", "files": files});
    hub.owner.resolve(&id, body).await.expect(200);
    let text = process.finish().ok();
    let folder = hub.data().join("cueme/files").join(&id);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        &lines[..5],
        ["The user answered:", "", "see there", "", "Attached files:"],
        "{text}"
    );
    assert_eq!(
        lines[5],
        format!("- {} (text/plain)", folder.join("nötes 1.txt").display())
    );
    let path = lines[6]
        .strip_prefix("- ")
        .and_then(|line| line.split(" (").next())
        .map(PathBuf::from)
        .expect("a path");
    assert!(path.is_absolute() && path == folder.join("large.bin"), "{text}");
    assert_eq!(lines.len(), 10, "{text}");
    for (name, bytes) in [(".env", "dot"), ("env", "plain"), ("...", "dots")] {
        assert_eq!(
            std::fs::read_to_string(folder.join(name)).expect("saved"),
            bytes,
            "{name}"
        );
    }
    assert_eq!(
        std::fs::read_dir(&folder).expect("the folder").count(),
        5,
        "no other files"
    );
    assert_eq!(std::fs::read(folder.join("nötes 1.txt")).expect("saved"), b"hello\n");
    assert!(std::fs::read(&path).expect("saved") == large, "the same bytes");
    for (path, wanted) in [(&folder, 0o700), (&path, 0o600), (&hub.data().join("cueme"), 0o700)] {
        assert_eq!(mode(path), wanted, "{}", path.display());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn files_alone_are_an_answer() {
    let hub = Hub::start().await;
    let shell = AgentShell::with_hub(&hub);
    let (process, id) = shell.waiting(&hub, "gavonel", "The log?").await;
    let body = json!({"resolution": "answered", "files": [file("a.log", Some("text/x-log"), b"x")]});
    hub.owner.resolve(&id, body).await.expect(200);
    let path = hub.data().join("cueme/files").join(&id).join("a.log");
    assert_eq!(
        process.finish().ok(),
        format!("The user attached files:\n- {} (text/x-log)\n", path.display())
    );
    assert_eq!(std::fs::read(path).expect("saved"), b"x");
}

#[tokio::test(flavor = "multi_thread")]
async fn json_output_lists_files_with_their_checksums() {
    let hub = Hub::start().await;
    let shell = AgentShell::with_hub(&hub);
    let process = shell.start(&["cue", "gavonel", "-", "--json"], envelope("The log?"));
    let id = wait_for_request(&hub, "The log?").await;
    hub.owner
        .resolve(
            &id,
            json!({"resolution": "answered", "files": [file("a", None, b"hi")]}),
        )
        .await
        .expect(200);
    let output = process.finish().json();
    assert_eq!((&output["text"], &output["files"][0]["size"]), (&json!(""), &json!(2)));
    let path = output["files"][0]["path"].as_str().expect("a path");
    assert_eq!(std::fs::read(path).expect("saved"), b"hi");
    let sum = "8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4";
    assert_eq!(output["files"][0]["sha256"], sum);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_whose_files_cannot_be_saved_is_kept() {
    let hub = Hub::start().await;
    let shell = AgentShell::with_hub(&hub);
    let blocker = hub.data().join("cueme");
    std::fs::write(&blocker, "").expect("a file in the way");
    let (process, id) = shell.waiting(&hub, "gavonel", "The log?").await;
    hub.owner
        .resolve(
            &id,
            json!({"resolution": "answered", "files": [file("a", None, b"hi")]}),
        )
        .await
        .expect(200);
    let stderr = process.finish().fails(1);
    assert!(stderr.contains("cannot create"), "{stderr}");
    std::fs::remove_file(&blocker).expect("out of the way");
    let ran = shell.cue("gavonel", "The log?").finish();
    assert!(ran.stderr.contains(&id), "{ran:?}");
    assert!(ran.ok().contains(&format!("{id}/a")));
}
