//! Styles, scripts and icons, embedded in the binary. Their URL contains a hash of all assets, so browsers may cache
//! them for ever and still get new ones with a new hub version.

use std::borrow::Cow;
use std::collections::HashMap;
use std::iter;
use std::sync::LazyLock;

use askama::Template;
use axum::extract::Path;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use countersign_core::{Digest, Language};
use flate2::Compression;

use crate::language::catalogue;
use crate::layout::compression::{GZIPPED, accepts_gzip, gzip};
use crate::layout::page::render;
use crate::layout::{filters, look};

struct Asset {
    name: &'static str,
    mime: &'static str,
    bytes: Cow<'static, [u8]>,
}

const JAVASCRIPT: &str = "text/javascript; charset=utf-8";

/// An asset of the folder `assets`, or one that the build has made of it (`build/main.rs`).
macro_rules! asset {
    ($name:literal, $mime:expr) => {
        asset!($name, $mime, concat!("../assets/", $name))
    };
    (built $name:literal, $mime:expr) => {
        asset!($name, $mime, concat!(env!("OUT_DIR"), "/", $name))
    };
    ($name:literal, $mime:expr, $path:expr) => {
        Asset {
            name: $name,
            mime: $mime,
            bytes: Cow::Borrowed(include_bytes!($path)),
        }
    };
}

static ASSETS: LazyLock<[Asset; 12]> = LazyLock::new(|| {
    [
        asset!(built "app.css", "text/css; charset=utf-8"),
        asset!(built "app.js", JAVASCRIPT),
        asset!("icon-192.png", "image/png"),
        asset!("icon-512.png", "image/png"),
        asset!("icon-maskable-512.png", "image/png"),
        asset!("icon.svg", "image/svg+xml"),
        asset!("manifest.webmanifest", "application/manifest+json"),
        asset!(built "passkey.js", JAVASCRIPT),
        asset!(built "sw.js", JAVASCRIPT),
        asset!(built "words.js", JAVASCRIPT),
        dictionary("words-de.js", Language::German),
        dictionary("words-zh.js", Language::Chinese),
    ]
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

static BASE: LazyLock<String> = LazyLock::new(|| {
    let all: Vec<u8> = ASSETS.iter().flat_map(|asset| asset.bytes.iter()).copied().collect();
    let digest = Digest::of(&all).to_string();
    format!("/inbox/assets/{}", digest.get(..16).unwrap_or(&digest))
});

/// The assets that are shorter when compressed. Compressed once.
static COMPRESSED: LazyLock<HashMap<&'static str, Vec<u8>>> = LazyLock::new(|| {
    let all = ASSETS.iter();
    let compressed = all.map(|asset| (asset, gzip(&asset.bytes, Compression::best())));
    compressed
        .filter(|(asset, bytes)| bytes.len() < asset.bytes.len())
        .map(|(asset, bytes)| (asset.name, bytes))
        .collect()
});

/// The modules that `app.js` imports in this language, so that a page can preload them.
pub fn modules(language: Language) -> impl Iterator<Item = &'static str> {
    let dictionary = match language {
        Language::English => None,
        Language::German => Some("words-de.js"),
        Language::Chinese => Some("words-zh.js"),
    };
    iter::once("words.js").chain(dictionary)
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
    serve(&name, if is_current { FOREVER } else { ALWAYS_ASK }, &headers)
}

pub async fn manifest(headers: HeaderMap) -> Response {
    serve("manifest.webmanifest", ALWAYS_ASK, &headers)
}

/// The service worker. Its scope is wider than its own path, so the browser needs an explicit permission.
pub async fn worker(headers: HeaderMap) -> Response {
    let mut response = serve("sw.js", ALWAYS_ASK, &headers);
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

fn serve(name: &str, caching: HeaderValue, headers: &HeaderMap) -> Response {
    let Some(asset) = ASSETS.iter().find(|asset| asset.name == name) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let kind = (header::CONTENT_TYPE, HeaderValue::from_static(asset.mime));
    let vary = (header::VARY, HeaderValue::from_static("accept-encoding"));
    let described = [kind, (header::CACHE_CONTROL, caching), NO_SNIFFING, vary];
    match COMPRESSED.get(name).filter(|_| accepts_gzip(headers)) {
        Some(bytes) => (described, [GZIPPED], bytes.as_slice()).into_response(),
        None => (described, &*asset.bytes).into_response(),
    }
}
