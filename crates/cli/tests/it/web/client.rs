//! A minimal browser without scripts: it stores cookies, follows redirects, and submits the forms of a page.

use std::collections::BTreeMap;
use std::sync::Mutex;

use reqwest::header::{COOKIE, HeaderMap, LOCATION, SET_COOKIE};
use reqwest::{Client, Method, RequestBuilder, Response, redirect};
use scraper::{ElementRef, Html, Node, Selector};
use serde_json::json;

use super::form::Form;
use crate::harness::{Hub, http_client, within};

const MAX_REDIRECTS: usize = 5;

/// The final response, after all redirects.
#[derive(Debug)]
pub struct Page {
    pub status: u16,
    /// Path and query.
    pub url: String,
    pub html: String,
    pub headers: HeaderMap,
}

impl Page {
    pub fn parsed(&self) -> Html {
        Html::parse_document(&self.html)
    }

    /// The visible text, with single spaces between the words.
    pub fn text(&self) -> String {
        text_of(self.parsed().root_element())
    }

    /// The visible text of the first element that `selector` finds.
    #[track_caller]
    pub fn text_at(&self, selector: &str) -> String {
        let parsed = self.parsed();
        let found = parsed.select(&css(selector)).next().map(text_of);
        found.unwrap_or_else(|| panic!("nothing at {selector}: {}", self.html))
    }

    /// The visible texts of all elements that `selector` finds.
    pub fn texts_at(&self, selector: &str) -> Vec<String> {
        self.parsed().select(&css(selector)).map(text_of).collect()
    }

    pub fn has(&self, part: &str) -> bool {
        self.html.contains(part)
    }

    pub fn count(&self, selector: &str) -> usize {
        self.parsed().select(&css(selector)).count()
    }

    /// An attribute of the first element that `selector` finds.
    pub fn attribute(&self, selector: &str, name: &str) -> Option<String> {
        self.parsed()
            .select(&css(selector))
            .next()?
            .attr(name)
            .map(str::to_owned)
    }

    /// The value of the first field of this name.
    pub fn field(&self, name: &str) -> Option<String> {
        let parsed = self.parsed();
        let of_name = ["input", "textarea", "select"].map(|kind| format!("{kind}[name='{name}']"));
        let found = parsed.select(&css(&of_name.join(", "))).next()?;
        Some(match found.value().name() {
            "textarea" => found.text().collect(),
            "select" => {
                let chosen = found.select(&css("option[selected]")).next();
                let option = chosen.or_else(|| found.select(&css("option")).next())?;
                option
                    .attr("value")
                    .map_or_else(|| option.text().collect(), str::to_owned)
            }
            _ => found.attr("value").unwrap_or_default().to_owned(),
        })
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
    }

    #[track_caller]
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}: {}", self.url, self.text());
        self
    }
}

pub fn css(selector: &str) -> Selector {
    Selector::parse(selector).unwrap_or_else(|error| panic!("{selector} is no selector: {error:?}"))
}

/// Text of block elements is separated from the text around it; text of inline elements is not.
fn text_of(element: ElementRef<'_>) -> String {
    let mut text = String::new();
    collect_text(element, &mut text);
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn collect_text(element: ElementRef<'_>, text: &mut String) {
    const INLINE: [&str; 13] = [
        "a", "b", "bdi", "code", "del", "em", "i", "ins", "kbd", "small", "span", "strong", "time",
    ];
    const UNSEEN: [&str; 3] = ["script", "style", "template"];
    let name = element.value().name();
    if UNSEEN.contains(&name) {
        return;
    }
    let around = if INLINE.contains(&name) { "" } else { " " };
    text.push_str(around);
    for child in element.children() {
        match (child.value(), ElementRef::wrap(child)) {
            (Node::Text(inner), _) => text.push_str(inner),
            (_, Some(inside)) => collect_text(inside, text),
            (_, None) => {}
        }
    }
    text.push_str(around);
}

/// A person with a browser.
pub struct WebClient {
    http: Client,
    base: String,
    cookies: Mutex<BTreeMap<String, String>>,
}

impl WebClient {
    /// A browser without a session.
    pub fn anonymous(hub: &Hub) -> Self {
        let http = http_client()
            .redirect(redirect::Policy::none())
            .build()
            .expect("an HTTP client");
        Self {
            http,
            base: hub.url.clone(),
            cookies: Mutex::default(),
        }
    }

    /// The same browser with the same cookies, at another hub.
    pub fn at(&self, hub: &Hub) -> Self {
        let cookies = Mutex::new(self.cookies.lock().unwrap().clone());
        Self {
            http: self.http.clone(),
            base: hub.url.clone(),
            cookies,
        }
    }

    /// The owner, signed in with the link that the hub printed. It works once per hub process.
    pub async fn signed_in(hub: &Hub) -> Self {
        let client = Self::anonymous(hub);
        client.redeem(&printed_link(hub).await).await;
        client
    }

    /// A new person, signed in with a link that the owner made.
    pub async fn as_person(hub: &Hub, name: &str, role: &str) -> Self {
        hub.person(name, role).await;
        Self::by_new_link(hub, name).await
    }

    /// An existing person, signed in with another browser.
    pub async fn by_new_link(hub: &Hub, name: &str) -> Self {
        let client = Self::anonymous(hub);
        client.redeem(&new_link(hub, name).await).await;
        client
    }

    /// Redeems a one-time link.
    pub async fn redeem(&self, link: &str) -> Page {
        let page = self.get(link).await.expect(200);
        self.submit(&page, "form#redeem", &[], None).await.expect(200)
    }

    pub async fn get(&self, path: &str) -> Page {
        self.follow(path_of(path), self.request(Method::GET, path)).await
    }

    /// Fills in a form and submits it. `form` is a selector such as `form#answer`, or a prefix of the form's action. A
    /// filled name replaces all values of that name; an empty value unticks a box.
    pub async fn submit(
        &self,
        page: &Page,
        form: &str,
        filled: &[(&str, &str)],
        pressed: Option<(&str, &str)>,
    ) -> Page {
        let form = Form::find(page, form).fill(filled).press(pressed);
        let action = form.action.clone().unwrap_or_else(|| page.url.clone());
        if form.is_post {
            return self.post(&action, &form.pairs()).await;
        }
        let place = action.split('?').next().unwrap_or_default();
        self.get(&format!("{place}?{}", encoded(&form.pairs()))).await
    }

    /// Sets the preset reasons, one per line, as an owner.
    pub async fn offer_reasons(&self, lines: &str) {
        let page = self.get("/inbox/settings/presets").await.expect(200);
        self.submit(&page, "form#presets", &[("lines", lines)], None)
            .await
            .expect(200);
    }

    /// Posts exactly these fields, whether or not a page of the hub offers them.
    pub async fn post(&self, path: &str, fields: &[(&str, &str)]) -> Page {
        let request = self
            .request(Method::POST, path)
            .header("content-type", "application/x-www-form-urlencoded");
        self.follow(path_of(path), request.body(encoded(fields))).await
    }

    /// A request with our cookies and the origin headers of a browser.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.http.request(method, format!("{}{}", self.base, path_of(path)));
        let cookies: Vec<String> = self
            .cookies()
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let request = request
            .header("sec-fetch-site", "same-origin")
            .header("origin", &self.base);
        if cookies.is_empty() {
            request
        } else {
            request.header(COOKIE, cookies.join("; "))
        }
    }

    pub fn cookies(&self) -> BTreeMap<String, String> {
        self.cookies.lock().expect("the lock is not poisoned").clone()
    }

    pub fn set_cookie(&self, name: &str, value: &str) {
        self.cookies
            .lock()
            .expect("the lock is not poisoned")
            .insert(name.to_owned(), value.to_owned());
    }

    async fn follow(&self, path: &str, request: RequestBuilder) -> Page {
        let mut path = path.to_owned();
        let mut request = request;
        for _ in 0..MAX_REDIRECTS {
            let response = within("a page", request.send()).await.expect("the hub replies");
            self.store_cookies(&response);
            let status = response.status().as_u16();
            let headers = response.headers().clone();
            let html = within("the page's text", response.text())
                .await
                .expect("the reply is text");
            if status != 303 {
                return Page {
                    status,
                    url: path,
                    html,
                    headers,
                };
            }
            let place = headers
                .get(LOCATION)
                .and_then(|place| place.to_str().ok())
                .expect("a location");
            path = path_of(place).to_owned();
            request = self.request(Method::GET, &path);
        }
        panic!("{path}: redirects without end");
    }

    fn store_cookies(&self, response: &Response) {
        let mut kept = self.cookies.lock().expect("the lock is not poisoned");
        for line in response.headers().get_all(SET_COOKIE) {
            let line = line.to_str().expect("a readable cookie");
            let (pair, attributes) = line.split_once(';').unwrap_or((line, ""));
            let (name, value) = pair.split_once('=').expect("a name and a value");
            if attributes.to_ascii_lowercase().contains("max-age=0") {
                kept.remove(name.trim());
            } else {
                kept.insert(name.trim().to_owned(), value.trim().to_owned());
            }
        }
    }
}

pub async fn printed_link(hub: &Hub) -> String {
    let output = hub.process().stdout_with("/signin/").await;
    output
        .split_whitespace()
        .find(|word| word.contains("/signin/"))
        .expect("the link")
        .to_owned()
}

pub async fn new_link(hub: &Hub, name: &str) -> String {
    let made = hub
        .owner
        .post("/v1/admin/people/link", &json!({ "name": name }))
        .await
        .expect(200);
    made["url"].as_str().expect("a link").to_owned()
}

/// The path of a link, because links may use another host name than this client.
fn path_of(link: &str) -> &str {
    let Some((_scheme, rest)) = link.split_once("://") else {
        return link;
    };
    rest.find('/').map_or("/", |start| &rest[start..])
}

fn encoded(fields: &[(&str, &str)]) -> String {
    let pairs = fields
        .iter()
        .map(|(name, value)| format!("{}={}", percent(name), percent(value)));
    pairs.collect::<Vec<_>>().join("&")
}

fn percent(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(byte).collect()
}
