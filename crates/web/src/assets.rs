//! Styles, scripts and icons, embedded in the binary. Their URL contains a hash of all assets, so browsers may cache
//! them for ever and still get new ones with a new hub version.

use std::borrow::Cow;
use std::io::Write;
use std::sync::LazyLock;

use askama::Template;
use axum::extract::Path;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use countersign_core::{Digest, Language};
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::language::catalogue;
use crate::layout::page::render;
use crate::layout::{filters, look};

struct Asset {
    name: &'static str,
    mime: &'static str,
    bytes: Cow<'static, [u8]>,
}

const JAVASCRIPT: &str = "text/javascript; charset=utf-8";

macro_rules! assets {
    ($($name:literal $mime:expr),+ $(,)?) => {
        [$(Asset { name: $name, mime: $mime, bytes: Cow::Borrowed(include_bytes!(concat!("../assets/", $name))) }),+]
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
    bytes: Cow::Borrowed(
        stylesheet!(
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
    ),
};

static ASSETS: LazyLock<Vec<Asset>> = LazyLock::new(|| {
    let mut assets = embedded();
    assets.extend([
        STYLESHEET,
        dictionary("words-de.js", Language::German),
        dictionary("words-zh.js", Language::Chinese),
    ]);
    assets
});

/// The phrases of the scripts in another language, as a module.
fn dictionary(name: &'static str, language: Language) -> Asset {
    let phrases = serde_json::Map::from_iter(catalogue::script_phrases(language));
    Asset {
        name,
        mime: JAVASCRIPT,
        bytes: Cow::Owned(format!("export default {};\n", serde_json::Value::Object(phrases)).into_bytes()),
    }
}

fn embedded() -> Vec<Asset> {
    Vec::from(assets![
        "answer.js" JAVASCRIPT,
        "app.js" JAVASCRIPT,
        "arrivals.js" JAVASCRIPT,
        "batch.js" JAVASCRIPT,
        "batch_send.js" JAVASCRIPT,
        "clock.js" JAVASCRIPT,
        "conversation.js" JAVASCRIPT,
        "copy.js" JAVASCRIPT,
        "counts.js" JAVASCRIPT,
        "drafts.js" JAVASCRIPT,
        "files.js" JAVASCRIPT,
        "form.js" JAVASCRIPT,
        "groups.js" JAVASCRIPT,
        "guard.js" JAVASCRIPT,
        "icon-192.png" "image/png",
        "icon-512.png" "image/png",
        "icon-maskable-512.png" "image/png",
        "icon.svg" "image/svg+xml",
        "images.js" JAVASCRIPT,
        "item.js" JAVASCRIPT,
        "keys.js" JAVASCRIPT,
        "live.js" JAVASCRIPT,
        "local_time.js" JAVASCRIPT,
        "manifest.webmanifest" "application/manifest+json",
        "menus.js" JAVASCRIPT,
        "more.js" JAVASCRIPT,
        "notify.js" JAVASCRIPT,
        "palette.js" JAVASCRIPT,
        "passkey.js" JAVASCRIPT,
        "prefs.js" JAVASCRIPT,
        "pulse.js" JAVASCRIPT,
        "put_away.js" JAVASCRIPT,
        "refresh.js" JAVASCRIPT,
        "rows.js" JAVASCRIPT,
        "run.js" JAVASCRIPT,
        "runs.js" JAVASCRIPT,
        "snooze.js" JAVASCRIPT,
        "split.js" JAVASCRIPT,
        "sw.js" JAVASCRIPT,
        "swap.js" JAVASCRIPT,
        "swipe.js" JAVASCRIPT,
        "tabs.js" JAVASCRIPT,
        "tell.js" JAVASCRIPT,
        "throttle.js" JAVASCRIPT,
        "undo.js" JAVASCRIPT,
        "words.js" JAVASCRIPT,
    ])
}

static BASE: LazyLock<String> = LazyLock::new(|| {
    let all: Vec<u8> = ASSETS.iter().flat_map(|asset| asset.bytes.iter()).copied().collect();
    let digest = Digest::of(&all).to_string();
    format!("/inbox/assets/{}", digest.get(..16).unwrap_or(&digest))
});

/// Compressed once. Only assets are compressed, never pages: a page contains both a secret and text from its URL, and
/// the compressed length of the two would leak the secret (BREACH).
static COMPRESSED: LazyLock<Vec<Option<Vec<u8>>>> = LazyLock::new(|| {
    let compress = |asset: &Asset| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(&asset.bytes).ok()?;
        encoder
            .finish()
            .ok()
            .filter(|smaller| smaller.len() < asset.bytes.len())
    };
    ASSETS.iter().map(compress).collect()
});

/// The modules that `app.js` imports in this language, so that a page can preload them.
pub fn modules(language: Language) -> impl Iterator<Item = &'static str> {
    let scripts = ASSETS
        .iter()
        .map(|asset| asset.name)
        .filter(|name| name.ends_with(".js"));
    scripts.filter(move |name| match *name {
        "app.js" | "sw.js" => false,
        "words-de.js" => language == Language::German,
        "words-zh.js" => language == Language::Chinese,
        _ => true,
    })
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

#[derive(Template)]
#[template(path = "offline.html")]
struct OfflinePage {
    language: Language,
}

/// The page that the service worker shows while the hub is unreachable.
pub async fn offline() -> Response {
    let page = OfflinePage {
        language: look::current().language,
    };
    let mut response = render(StatusCode::OK, &page);
    response.headers_mut().insert(header::CACHE_CONTROL, ALWAYS_ASK);
    response
}

fn find(name: &str) -> Option<&'static Asset> {
    ASSETS.iter().find(|asset| asset.name == name)
}

fn serve_plain(name: &str, caching: HeaderValue) -> Response {
    serve(name, caching, find(name).map_or(&[], |asset| &asset.bytes))
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
