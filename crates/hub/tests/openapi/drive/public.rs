use crate::call::get;
use crate::scene::{Scene, Seen};

pub async fn public(seen: &Seen) {
    let scene = Scene::new(seen).await;
    for path in ["/health", "/ready", "/metrics", "/openapi.json"] {
        scene.expect(200, get(path)).await;
    }
    let a2h = scene.json(200, get("/.well-known/a2h")).await;
    assert_eq!(a2h["a2h_version"], "0.3");
    for path in ["/.well-known/ma2h", "/.well-known/ma2h-capability"] {
        assert_eq!(scene.json(200, get(path)).await["ma2h_version"], "0.6");
    }
    scene.stop.send_replace(true);
    scene.expect(503, get("/ready")).await;
    exposed(seen).await;
    unlimited(seen).await;
}

/// With a public address only the owner may read the counts.
async fn exposed(seen: &Seen) {
    let scene = Scene::with(seen, |file| file.public_url = Some("https://hub.example".to_owned())).await;
    scene.expect(401, get("/metrics")).await;
    scene.expect(403, get("/metrics").by(&scene.ann)).await;
    scene.expect(200, get("/metrics").by(&scene.owner)).await;
    assert_eq!(
        scene.json(200, get("/v1/admin/status").by(&scene.owner)).await["url"],
        "https://hub.example"
    );
}

async fn unlimited(seen: &Seen) {
    let scene = Scene::with(seen, |file| {
        file.limits.requests_per_minute = Some(0);
        file.limits.inbox_depth = Some(0);
    });
    let capability = scene.await.json(200, get("/.well-known/a2h")).await;
    assert_eq!(capability.get("rate_limit"), None);
}
