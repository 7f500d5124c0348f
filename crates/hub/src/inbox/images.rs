//! Images of messages, fetched when a person asks to see one. The same guard as for callbacks decides on the address, so
//! that an agent cannot make the hub read from its own network.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use countersign_store::Store;
use reqwest::header::{ACCEPT, LOCATION};
use reqwest::{Client, Response};
use tokio::sync::Semaphore;
use url::Url;

use crate::auth::RequestLimiter;
use crate::delivery::guard::{self, TargetRefused};
use crate::delivery::{Outbox, failure_cause, failure_reason};
use crate::problem::Problem;

const MAX_IMAGE_BYTES: usize = 4 * 1024 * 1024;
/// Bounds the whole fetch, with its redirects.
const FETCH_TIMEOUT: Duration = Duration::from_secs(10);
const MAX_REDIRECTS: usize = 3;
/// Bounds the fetches at one time. A fetched image is not counted while it is sent.
const MAX_CONCURRENT_FETCHES: usize = 8;
const MAX_PER_MINUTE: NonZeroU32 = NonZeroU32::MIN.saturating_add(59);

/// A fetched image. Its type comes from its magic bytes, not from the `Content-Type` of its host.
pub struct Image {
    pub mime: &'static str,
    pub bytes: Vec<u8>,
}

pub struct ImageFetcher {
    client: Client,
    allow_loopback: bool,
    slots: Semaphore,
    limiter: RequestLimiter,
}

impl ImageFetcher {
    pub fn new(outbox: &Outbox, store: &Arc<Store>, allow_loopback: bool) -> Self {
        Self {
            client: outbox.guarded_client(),
            allow_loopback,
            slots: Semaphore::new(MAX_CONCURRENT_FETCHES),
            limiter: RequestLimiter::per_minute(Some(MAX_PER_MINUTE), store),
        }
    }

    /// The image at an address, or inside of a `data:` address.
    pub async fn fetch(&self, person: &str, address: &str) -> Result<Image, Problem> {
        self.limiter.check_images(person).await?;
        let fetched = match address.get(..5) {
            Some(scheme) if scheme.eq_ignore_ascii_case("data:") => decode(address),
            Some(_) | None => tokio::time::timeout(FETCH_TIMEOUT, self.download(address))
                .await
                .unwrap_or_else(|_| Err(format!("its host did not send it within {} s", FETCH_TIMEOUT.as_secs()))),
        };
        let bytes = fetched.map_err(|reason| Problem::invalid("image", reason))?;
        let mime = sniff(&bytes).ok_or_else(|| Problem::invalid("image", "it is no PNG, JPEG, GIF or WebP image"))?;
        Ok(Image { mime, bytes })
    }

    async fn download(&self, address: &str) -> Result<Vec<u8>, String> {
        let _slot = self
            .slots
            .acquire()
            .await
            .map_err(|_| "the hub is stopping".to_owned())?;
        let mut url = Url::parse(address).map_err(|_| "its address is not valid".to_owned())?;
        for _ in 0..=MAX_REDIRECTS {
            guard::check_url(&url, self.allow_loopback).map_err(refusal)?;
            let request = self
                .client
                .get(url.clone())
                .header(ACCEPT, "image/png, image/jpeg, image/gif, image/webp");
            let response = request.send().await.map_err(|error| failure(&error))?;
            match redirect_target(&url, &response) {
                Some(next) => url = next,
                None => return read(response).await,
            }
        }
        Err("its host redirects too often".to_owned())
    }
}

fn redirect_target(from: &Url, response: &Response) -> Option<Url> {
    let location = response
        .headers()
        .get(LOCATION)
        .filter(|_| response.status().is_redirection())?;
    from.join(location.to_str().ok()?).ok()
}

async fn read(mut response: Response) -> Result<Vec<u8>, String> {
    if !response.status().is_success() {
        return Err(format!("its host answered {}", response.status().as_u16()));
    }
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| failure(&error))? {
        if bytes.len() + chunk.len() > MAX_IMAGE_BYTES {
            return Err(format!("it is larger than {} MiB", MAX_IMAGE_BYTES / (1024 * 1024)));
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

fn failure(error: &reqwest::Error) -> String {
    match failure_cause::<TargetRefused>(error) {
        Some(refused) => refusal(*refused),
        None => format!("fetching it failed: {}", failure_reason(error)),
    }
}

fn refusal(refused: TargetRefused) -> String {
    match refused {
        TargetRefused::Address(kind) => format!("its host is {kind}, and the hub fetches from public addresses only"),
        TargetRefused::NotHttps => "the hub fetches over https only".to_owned(),
        TargetRefused::UserInfo => "its address contains a user name or a password".to_owned(),
        TargetRefused::NoHost => "its address has no host".to_owned(),
    }
}

/// The bytes of `data:image/png;base64,…`.
fn decode(address: &str) -> Result<Vec<u8>, String> {
    let content = address.split_once(',').filter(|(head, _)| head.ends_with(";base64"));
    let decoded = content.and_then(|(_, text)| STANDARD.decode(text.trim()).ok());
    decoded.ok_or_else(|| "it is not valid base64".to_owned())
}

/// The type by the first bytes. SVG is not among them: it can contain scripts.
fn sniff(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_bytes_decide_whether_it_is_an_image() {
        assert_eq!(sniff(b"\x89PNG\r\n\x1a\n..."), Some("image/png"));
        assert_eq!(sniff(b"\xff\xd8\xff\xe0"), Some("image/jpeg"));
        assert_eq!(sniff(b"GIF89a"), Some("image/gif"));
        assert_eq!(sniff(b"RIFF\0\0\0\0WEBPVP8 "), Some("image/webp"));
        for other in [
            &b"<svg xmlns"[..],
            b"<html>",
            b"",
            b"\x89PNG",
            b"RIFF\0\0\0\0WAVE",
            b"GIF88a",
            b"BM",
        ] {
            assert_eq!(sniff(other), None, "{other:?}");
        }
    }

    #[test]
    fn an_image_inside_of_the_address_is_decoded() {
        assert_eq!(decode("data:image/gif;base64,R0lGODlh"), Ok(b"GIF89a".to_vec()));
        for address in [
            "data:image/gif",
            "data:image/gif,abc",
            "data:image/gif;base64,%%%",
            "data:",
        ] {
            assert!(decode(address).is_err(), "{address}");
        }
    }
}
