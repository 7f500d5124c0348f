//! Styles, scripts and icons, embedded in the binary. Their URL contains a hash of all assets, so browsers may cache
//! them for ever and still get new ones with a new hub version.

use std::io::Write;
use std::sync::LazyLock;

use axum::extract::Path;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use countersign_core::Digest;
use flate2::Compression;
use flate2::write::GzEncoder;

use super::layout::page::POLICY;

struct Asset {
    name: &'static str,
    mime: &'static str,
    bytes: &'static [u8],
}

macro_rules! assets {
    ($($name:literal $mime:literal),+ $(,)?) => {
        [STYLESHEET, $(Asset { name: $name, mime: $mime, bytes: include_bytes!(concat!("../assets/", $name)) }),+]
    };
}

/// The parts of the one stylesheet, in the order of the cascade.
macro_rules! stylesheet {
    ($($name:literal),+ $(,)?) => {
        concat!($(include_str!(concat!("../assets/css/", $name, ".css"))),+)
    };
}

const STYLESHEET: Asset = Asset {
    name: "app.css",
    mime: "text/css; charset=utf-8",
    bytes: stylesheet!(
        "tokens",
        "base",
        "controls",
        "frame",
        "lists",
        "agents",
        "item",
        "runs",
        "pulse",
        "content",
        "code",
        "styleguide",
        "split",
        "devices",
    )
    .as_bytes(),
};

static ASSETS: &[Asset] = &assets![
    "answer.js" "text/javascript; charset=utf-8",
    "app.js" "text/javascript; charset=utf-8",
    "arrivals.js" "text/javascript; charset=utf-8",
    "batch.js" "text/javascript; charset=utf-8",
    "batch_send.js" "text/javascript; charset=utf-8",
    "clock.js" "text/javascript; charset=utf-8",
    "conversation.js" "text/javascript; charset=utf-8",
    "copy.js" "text/javascript; charset=utf-8",
    "counts.js" "text/javascript; charset=utf-8",
    "drafts.js" "text/javascript; charset=utf-8",
    "files.js" "text/javascript; charset=utf-8",
    "form.js" "text/javascript; charset=utf-8",
    "groups.js" "text/javascript; charset=utf-8",
    "guard.js" "text/javascript; charset=utf-8",
    "icon-192.png" "image/png",
    "icon-512.png" "image/png",
    "icon-maskable-512.png" "image/png",
    "icon.svg" "image/svg+xml",
    "images.js" "text/javascript; charset=utf-8",
    "item.js" "text/javascript; charset=utf-8",
    "keys.js" "text/javascript; charset=utf-8",
    "live.js" "text/javascript; charset=utf-8",
    "local_time.js" "text/javascript; charset=utf-8",
    "manifest.webmanifest" "application/manifest+json",
    "menus.js" "text/javascript; charset=utf-8",
    "more.js" "text/javascript; charset=utf-8",
    "notify.js" "text/javascript; charset=utf-8",
    "offline.html" "text/html; charset=utf-8",
    "palette.js" "text/javascript; charset=utf-8",
    "passkey.js" "text/javascript; charset=utf-8",
    "prefs.js" "text/javascript; charset=utf-8",
    "pulse.js" "text/javascript; charset=utf-8",
    "put_away.js" "text/javascript; charset=utf-8",
    "refresh.js" "text/javascript; charset=utf-8",
    "rows.js" "text/javascript; charset=utf-8",
    "run.js" "text/javascript; charset=utf-8",
    "runs.js" "text/javascript; charset=utf-8",
    "snooze.js" "text/javascript; charset=utf-8",
    "split.js" "text/javascript; charset=utf-8",
    "sw.js" "text/javascript; charset=utf-8",
    "swap.js" "text/javascript; charset=utf-8",
    "swipe.js" "text/javascript; charset=utf-8",
    "tabs.js" "text/javascript; charset=utf-8",
    "tell.js" "text/javascript; charset=utf-8",
    "throttle.js" "text/javascript; charset=utf-8",
    "undo.js" "text/javascript; charset=utf-8",
];

static BASE: LazyLock<String> = LazyLock::new(|| {
    let all: Vec<u8> = ASSETS.iter().flat_map(|asset| asset.bytes).copied().collect();
    let digest = Digest::of(&all).to_string();
    format!("/inbox/assets/{}", digest.get(..16).unwrap_or(&digest))
});

/// Compressed once. Only assets are compressed, never pages: a page contains both a secret and text from its URL, and
/// the compressed length of the two would leak the secret (BREACH).
static COMPRESSED: LazyLock<Vec<Option<Vec<u8>>>> = LazyLock::new(|| {
    let compress = |asset: &Asset| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(asset.bytes).ok()?;
        encoder
            .finish()
            .ok()
            .filter(|smaller| smaller.len() < asset.bytes.len())
    };
    ASSETS.iter().map(compress).collect()
});

/// The modules that `app.js` imports, so that a page can preload them.
pub fn modules() -> impl Iterator<Item = &'static str> {
    let scripts = ASSETS
        .iter()
        .map(|asset| asset.name)
        .filter(|name| name.ends_with(".js"));
    scripts.filter(|name| !matches!(*name, "app.js" | "sw.js"))
}

/// The URL prefix of all assets.
pub fn base() -> &'static str {
    &BASE
}

const FOREVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
/// For assets at a fixed URL.
const ALWAYS_ASK: HeaderValue = HeaderValue::from_static("no-cache");
const NO_SNIFFING: (HeaderName, HeaderValue) = (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));

/// A URL with another hash, from an older page or a fixed one, gets the current asset without long-term caching.
pub async fn asset(Path((hash, name)): Path<(String, String)>, headers: HeaderMap) -> Response {
    let is_current = base().ends_with(&hash);
    let caching = if is_current { FOREVER } else { ALWAYS_ASK };
    let accept_encoding = headers
        .get(header::ACCEPT_ENCODING)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let compressed = ASSETS
        .iter()
        .position(|asset| asset.name == name)
        .and_then(|at| COMPRESSED[at].as_deref());
    let mut response = match compressed {
        Some(bytes) if accept_encoding.contains("gzip") => {
            let mut response = serve(&name, caching, bytes);
            response
                .headers_mut()
                .insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            response
        }
        Some(_) | None => serve_plain(&name, caching),
    };
    response
        .headers_mut()
        .insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    response
}

pub async fn manifest() -> Response {
    serve_plain("manifest.webmanifest", ALWAYS_ASK)
}

/// The service worker. Its scope is wider than its own path, so the browser needs an explicit permission.
pub async fn worker() -> Response {
    let mut response = serve_plain("sw.js", ALWAYS_ASK);
    response
        .headers_mut()
        .insert("service-worker-allowed", HeaderValue::from_static("/inbox"));
    response
}

/// The page that the service worker shows while the hub is unreachable.
pub async fn offline() -> Response {
    let mut response = serve_plain("offline.html", ALWAYS_ASK);
    response
        .headers_mut()
        .insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    response
}

fn find(name: &str) -> Option<&'static Asset> {
    ASSETS.iter().find(|asset| asset.name == name)
}

fn serve_plain(name: &str, caching: HeaderValue) -> Response {
    serve(name, caching, find(name).map_or(&[], |asset| asset.bytes))
}

fn serve(name: &str, caching: HeaderValue, bytes: &'static [u8]) -> Response {
    match find(name) {
        Some(asset) => {
            let kind = (header::CONTENT_TYPE, HeaderValue::from_static(asset.mime));
            ([kind, (header::CACHE_CONTROL, caching), NO_SNIFFING], bytes).into_response()
        }
        None => StatusCode::NOT_FOUND.into_response(),
    }
}
