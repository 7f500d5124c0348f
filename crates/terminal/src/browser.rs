//! Opens an item in the browser of this machine: the program that BROWSER names, else the desktop's own.

use std::ffi::{OsStr, OsString};
use std::process::{Command, Stdio};

use countersign_client::hub::HubClient;
use reqwest::Url;

#[cfg(target_os = "macos")]
const OPENER: &str = "open";
#[cfg(not(target_os = "macos"))]
const OPENER: &str = "xdg-open";

/// Returns what to tell the person: that the page is open, or its address.
pub async fn open(client: &HubClient, id: &str) -> String {
    let url = page(client.url(&["inbox", "items", id]));
    let address = url.to_string();
    let opened = tokio::task::spawn_blocking(move || {
        chosen().is_some_and(|browser| start(&browser, &url)) || has_display() && start(OPENER.as_ref(), &url)
    });
    let opened = opened.await;
    if opened.unwrap_or(false) {
        format!("opened in the browser: {address}")
    } else {
        format!("no browser here; the page is {address}")
    }
}

/// A session in the browser belongs to `localhost`, not to the address of loopback.
fn page(mut url: Url) -> Url {
    if matches!(url.host_str(), Some("127.0.0.1" | "[::1]")) && url.set_host(Some("localhost")).is_ok() {
        return url;
    }
    url
}

fn chosen() -> Option<OsString> {
    std::env::var_os("BROWSER").filter(|program| !program.is_empty())
}

/// Without a display the opener would start a browser in this terminal.
fn has_display() -> bool {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    cfg!(target_os = "macos") || is_set("DISPLAY") || is_set("WAYLAND_DISPLAY")
}

fn start(program: &OsStr, url: &Url) -> bool {
    let mut opener = Command::new(program);
    opener
        .arg(url.as_str())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    opener.status().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_opened_where_the_session_is() {
        let page = |url: &str| page(Url::parse(url).unwrap()).to_string();
        assert_eq!(page("http://127.0.0.1:7422/inbox"), "http://localhost:7422/inbox");
        assert_eq!(page("http://[::1]:7422/inbox"), "http://localhost:7422/inbox");
        assert_eq!(page("https://hub.example/inbox"), "https://hub.example/inbox");
    }
}
