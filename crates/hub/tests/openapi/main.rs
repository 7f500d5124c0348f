//! Checks `openapi.json` against the running hub: routes, statuses, headers, bodies and error codes.

#![cfg(test)]

mod broken;
mod call;
mod document;
mod drive;
mod scene;
mod shapes;
mod text;

use std::collections::BTreeSet;

use document::Document;
use scene::Seen;

/// Statuses that a test cannot trigger: a body that takes half a minute, a failing store (see `broken`), damaged rows, an agent
/// that is removed between the check of its token and the write, and more concurrent requests than one caller may
/// have.
fn is_out_of_reach(method: &str, path: &str, status: u16) -> bool {
    let race = (method, path, status) == ("post", "/v1/callbacks", 404);
    let stopping = path == "/ready";
    let much = (method, status) == ("get", 429);
    race || much || [408, 500].contains(&status) || (status == 503 && !stopping)
}

#[tokio::test]
async fn every_documented_status_occurs_and_every_occurring_one_is_documented() {
    let seen = Seen::default();
    drive::public(&seen).await;
    drive::agents(&seen).await;
    drive::people(&seen).await;
    drive::lists(&seen).await;
    drive::shelf(&seen).await;
    drive::undo(&seen).await;
    drive::terminals(&seen).await;
    drive::runs(&seen).await;
    drive::admin(&seen).await;
    drive::refusals(&seen).await;
    let document = Document::read();
    let promised: BTreeSet<(String, String, u16)> = document
        .operations()
        .flat_map(|(method, path)| {
            let statuses = document.statuses(method, path);
            statuses
                .into_iter()
                .map(move |status| (method.to_owned(), path.to_owned(), status))
        })
        .filter(|(method, path, status)| !is_out_of_reach(method, path, *status))
        .collect();
    // `Scene::send` already fails on an undocumented status; this finds documented statuses that never occurred.
    let missing: Vec<_> = promised.difference(&seen.all()).cloned().collect();
    assert!(missing.is_empty(), "documented, but never given: {missing:#?}");
}
