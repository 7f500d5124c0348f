//! Refusals that all routes of a kind share: no credential, the wrong credential, an invalid body.

use super::agents::{NOWHERE, submitted};
use super::envelope::confirm;
use crate::call::{Call, get, post};
use crate::document::Document;
use crate::scene::{Scene, Seen};

pub async fn refusals(seen: &Seen) {
    let scene = Scene::new(seen).await;
    let id = submitted(&scene, &confirm("refusals")).await;
    let document = Document::read();
    for (method, path) in document.operations() {
        let operation = document.operation(method, path);
        let call = || {
            if method == "get" {
                get(path).at(NOWHERE)
            } else {
                post(path).at(NOWHERE)
            }
        };
        if operation["security"].as_array().is_some_and(|ways| ways.len() == 2) && path != "/metrics" {
            scene.expect(401, call()).await;
            scene.expect(401, call().header("x-api-key", "csa_nonsense")).await;
            wrong_credential(&scene, call(), path).await;
            terminal_credential(&scene, call(), path).await;
        }
        if operation["requestBody"].is_object() {
            let right = match path {
                _ if path.starts_with("/v1/admin") => &scene.owner,
                _ if path.starts_with("/v1/inbox") || path.starts_with("/v1/terminals") => &scene.ann,
                _ if path.starts_with("/v1/hap") => &scene.terminal,
                _ => &scene.bot,
            };
            let call = || post(path).at(&id).by(right);
            for body in [&b"{"[..], b"[]", b"{\"a\":1,\"a\":2}", b"\xff"] {
                scene.expect(400, call().raw(body)).await;
            }
            scene.expect(422, call().raw(&vec![b' '; too_much(path)])).await;
        }
    }
}

fn too_much(path: &str) -> usize {
    const MIB: usize = 1024 * 1024;
    match path {
        "/v1/hap/cues" => 8 * MIB + 1,
        "/v1/hap/import" => 28 * MIB + 1,
        _ => 2 * MIB,
    }
}

/// Agents can read a terminal's token, so it works only on the terminal routes.
async fn terminal_credential(scene: &Scene, call: Call<'_>, path: &str) {
    if path.starts_with("/v1/hap") {
        return;
    }
    let refused = scene.json(403, call.by(&scene.terminal)).await;
    let expected = refused["error"]["message"].as_str().unwrap_or_default();
    assert!(expected.contains("countersign person token NAME"), "{refused}");
}

/// A valid token of a caller who may not use the route. All callers may list and, if named, resolve.
async fn wrong_credential(scene: &Scene, call: Call<'_>, path: &str) {
    let token = match path {
        "/v1/messages/{id}/resolve" => return,
        "/v1/messages" if call.method == "get" => return,
        _ if path.starts_with("/v1/admin") => &scene.ann,
        _ if path.starts_with("/v1/terminals") || path.starts_with("/v1/runs") => &scene.bot,
        "/v1/notices" | "/v1/search" | "/v1/decided" | "/v1/presets" => &scene.bot,
        _ if path.starts_with("/v1/inbox") => &scene.bot,
        _ => &scene.owner,
    };
    scene.expect(403, call.by(token)).await;
}
