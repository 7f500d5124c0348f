//! A real Chromium with its own profile, driven through WebDriver. It never outlives its test.

use std::path::PathBuf;
use std::process::Command;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use fantoccini::elements::Element;
use fantoccini::wd::Capabilities;
use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};

use crate::harness::{Api, Hub, Process, Scratch, eventually, within};

/// The window size, colour scheme and script setting of a browser.
#[derive(Clone, Copy)]
pub struct Viewport {
    pub width: u32,
    pub height: u32,
    pub dark: bool,
    pub scripts: bool,
}

impl Viewport {
    pub const DESKTOP: Self = Self {
        width: 1280,
        height: 900,
        dark: false,
        scripts: true,
    };
    pub const PHONE: Self = Self {
        width: 360,
        height: 740,
        dark: false,
        scripts: true,
    };
}

#[derive(Clone, Copy)]
struct Program {
    name: &'static str,
    file: &'static str,
}

/// The engine alone: it starts with a fifth of the work, and has neither settings nor installed apps.
const HEADLESS_SHELL: Program = Program {
    name: "chrome-headless-shell",
    file: "chromium-headless-shell",
};
const CHROMIUM: Program = Program {
    name: "chrome",
    file: "chromium",
};

pub struct Browser {
    client: Client,
    driver: Process,
    driver_url: String,
    profile: Scratch,
    console: Vec<String>,
}

/// Starts the driver, with retries: it picks a free IPv6 port and may find the same port taken on IPv4.
async fn start_driver(profile: &Scratch) -> (Process, String) {
    const STARTED: &str = "started successfully on port ";
    for _ in 0..5 {
        let mut command = Command::new("chromedriver");
        command
            .arg("--port=0")
            .env("HOME", profile.home())
            .env("TMPDIR", profile.home());
        let driver = Process::spawn(command, "");
        if let Some(output) = driver.try_stdout_with(STARTED).await {
            let port = output.split(STARTED).nth(1).unwrap_or_default();
            return (driver, port.chars().take_while(char::is_ascii_digit).collect());
        }
    }
    panic!("chromedriver found no port");
}

impl Browser {
    pub async fn start(look: Viewport) -> Self {
        let program = if look.scripts { HEADLESS_SHELL } else { CHROMIUM };
        Self::start_program(program, look).await
    }

    /// Starts the browser that people use, for what the headless shell lacks.
    pub async fn start_full(look: Viewport) -> Self {
        Self::start_program(CHROMIUM, look).await
    }

    async fn start_program(program: Program, look: Viewport) -> Self {
        let profile = Scratch::new();
        let (driver, port) = start_driver(&profile).await;
        let driver_url = format!("http://127.0.0.1:{port}");
        let connector = HttpConnector::new();
        let client = ClientBuilder::new(connector)
            .capabilities(capabilities(program, look, &profile))
            .connect(&driver_url)
            .await;
        let client = client.expect("Chromium starts");
        let browser = Self {
            client,
            driver,
            driver_url,
            profile,
            console: Vec::new(),
        };
        browser.resize(look).await;
        browser
    }

    /// Emulates the size, because the window of a headless browser cannot be as narrow as a phone.
    async fn resize(&self, look: Viewport) {
        let width = look.width;
        let height = look.height;
        let mobile = width < 500;
        let metrics = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile});
        self.devtools("Emulation.setDeviceMetricsOverride", metrics).await;
        self.devtools("Emulation.setTouchEmulationEnabled", json!({"enabled": mobile}))
            .await;
        self.prefer(look.dark).await;
    }

    /// Emulates the colour scheme of the system.
    pub async fn prefer(&self, dark: bool) {
        let scheme = if dark { "dark" } else { "light" };
        let features = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.devtools("Emulation.setEmulatedMedia", features).await;
    }

    /// Sums the layout shifts that the person does not cause, from now on.
    pub async fn watch_shifts(&self) {
        self.script(
            "window.shifts = 0;
             const add = ({ value, hadRecentInput }) => { window.shifts += hadRecentInput ? 0 : value; };
             new PerformanceObserver((list) => list.getEntries().forEach(add)).observe({ type: 'layout-shift' });",
        )
        .await;
    }

    /// The sum of the layout shifts so far, once the last change is painted. Three digits; the rest is the width of a digit
    /// in a time that counts.
    pub async fn shifts(&self) -> Value {
        self.script_async(
            "const done = arguments[arguments.length - 1];
             requestAnimationFrame(() => setTimeout(() => done(Math.floor(window.shifts * 1e3) / 1e3)));",
        )
        .await
    }

    pub async fn devtools(&self, command: &str, params: Value) -> Value {
        self.driver_post("goog/cdp/execute", &json!({"cmd": command, "params": params}))
            .await
    }

    /// A WebDriver call that the client library does not have.
    pub async fn driver_post(&self, path: &str, body: &Value) -> Value {
        let session = self.client.session_id().await.ok().flatten().expect("a session");
        let reply = Api::anonymous(&self.driver_url)
            .post(&format!("/session/{session}/{path}"), body)
            .await;
        reply.expect(200)["value"].clone()
    }

    /// Runs a script in every page that is loaded from now on, before the scripts of the page.
    pub async fn run_before_pages(&self, script: &str) {
        self.devtools("Page.addScriptToEvaluateOnNewDocument", json!({"source": script}))
            .await;
    }

    /// A browser that is signed in as the owner, with the link that the hub printed.
    pub async fn signed_in(look: Viewport, hub: &Hub) -> Self {
        let browser = Self::start(look).await;
        browser.sign_in(hub).await;
        browser
    }

    pub async fn sign_in(&self, hub: &Hub) {
        let greeting = hub.process().stdout_with("/signin/").await;
        let link = greeting
            .split_whitespace()
            .find(|word| word.contains("/signin/"))
            .expect("a link");
        self.sign_in_by(link).await;
    }

    /// A browser that is signed in as `name`, with a link that the owner made.
    pub async fn signed_in_as(look: Viewport, hub: &Hub, name: &str) -> Self {
        let made = hub
            .owner
            .post("/v1/admin/people/link", &json!({"name": name}))
            .await
            .expect(200);
        let browser = Self::start(look).await;
        browser.sign_in_by(made["url"].as_str().expect("a link")).await;
        browser
    }

    pub async fn sign_in_by(&self, link: &str) {
        self.goto(link).await;
        self.click("main form button").await;
        self.wait_for("body[data-page]:not([data-person=''])").await;
        self.wait_for("body[data-page=list]").await;
    }

    pub async fn goto(&self, url: &str) {
        within("a page", self.client.goto(url)).await.expect("the page opens");
    }

    /// The URL of a page of the hub, under `localhost`.
    pub fn url(hub: &Hub, path: &str) -> String {
        format!("{}{path}", hub.url.replace("127.0.0.1", "localhost"))
    }

    pub async fn open(&self, hub: &Hub, path: &str) {
        self.goto(&Self::url(hub, path)).await;
    }

    /// Chooses a theme in the menu of the person; it may differ from the system's.
    pub async fn choose_theme(&self, theme: &str) {
        self.click("#me-menu > summary").await;
        self.click(&format!("#me-menu button[value={theme}]")).await;
        self.wait_for(&format!("html[data-theme={theme}]")).await;
    }

    pub async fn reload(&self) {
        self.client.refresh().await.expect("the page loads again");
    }

    /// Waits until the element exists.
    pub async fn wait_for(&self, css: &str) -> Element {
        eventually(&format!("{css} on the page"), async || {
            self.client.find(Locator::Css(css)).await.ok()
        })
        .await
    }

    /// Waits until the element exists and contains this text.
    pub async fn wait_for_text(&self, css: &str, wanted: &str) -> String {
        eventually(&format!("{css} says {wanted:?}"), async || {
            let text = self.client.find(Locator::Css(css)).await.ok()?.text().await.ok()?;
            text.contains(wanted).then_some(text)
        })
        .await
    }

    pub async fn wait_until_gone(&self, css: &str) {
        eventually(&format!("no {css} on the page"), async || {
            let found = self.client.find_all(Locator::Css(css)).await.ok()?;
            found.is_empty().then_some(())
        })
        .await;
    }

    pub async fn count(&self, css: &str) -> usize {
        self.client
            .find_all(Locator::Css(css))
            .await
            .map_or(0, |found| found.len())
    }

    pub async fn value(&self, css: &str) -> String {
        self.wait_for(css)
            .await
            .prop("value")
            .await
            .ok()
            .flatten()
            .unwrap_or_default()
    }

    pub async fn title(&self) -> String {
        self.client.title().await.unwrap_or_default()
    }

    /// Clicks, and retries if the page changed meanwhile.
    pub async fn click(&self, css: &str) {
        eventually(&format!("{css} can be clicked"), async || {
            self.client.find(Locator::Css(css)).await.ok()?.click().await.ok()
        })
        .await;
    }

    pub async fn fill(&self, css: &str, text: &str) {
        eventually(&format!("{css} can be filled"), async || {
            let field = self.client.find(Locator::Css(css)).await.ok()?;
            field.clear().await.ok()?;
            field.send_keys(text).await.ok()
        })
        .await;
    }

    /// Gives this browser a touch screen; its width stays.
    pub async fn with_touch(&self) {
        self.devtools("Emulation.setTouchEmulationEnabled", json!({"enabled": true}))
            .await;
    }

    /// Taps the middle of an element with a finger.
    pub async fn tap(&self, css: &str) {
        let press = [
            json!({"type": "pointerDown", "button": 0}),
            json!({"type": "pointerUp", "button": 0}),
        ];
        self.point_at(css, "touch", &press).await;
    }

    /// Moves the mouse over the middle of an element.
    pub async fn hover(&self, css: &str) {
        self.point_at(css, "mouse", &[]).await;
    }

    async fn point_at(&self, css: &str, kind: &str, then: &[Value]) {
        self.wait_for(css).await;
        let middle = format!(
            "const target = document.querySelector({css:?});
             target.scrollIntoView({{ block: 'nearest' }});
             const {{ x, y, width, height }} = target.getBoundingClientRect();
             return [Math.round(x + width / 2), Math.round(y + height / 2)]"
        );
        let at = self.script(&middle).await;
        let mut actions = vec![json!({"type": "pointerMove", "duration": 0, "x": at[0], "y": at[1]})];
        actions.extend_from_slice(then);
        let pointer = json!({"type": "pointer", "id": kind, "parameters": {"pointerType": kind}, "actions": actions});
        self.driver_post("actions", &json!({"actions": [pointer]})).await;
    }

    /// Presses keys at the current focus.
    pub async fn press(&self, keys: &str) {
        let actions: Vec<Value> = keys
            .chars()
            .flat_map(|key| {
                [
                    json!({"type": "keyDown", "value": key}),
                    json!({"type": "keyUp", "value": key}),
                ]
            })
            .collect();
        self.driver_post(
            "actions",
            &json!({"actions": [{"type": "key", "id": "keyboard", "actions": actions}]}),
        )
        .await;
    }

    pub async fn script(&self, script: &str) -> Value {
        self.client.execute(script, vec![]).await.expect("the script runs")
    }

    /// Runs a script that calls its last argument when it is done.
    pub async fn script_async(&self, script: &str) -> Value {
        within("a script", self.client.execute_async(script, vec![]))
            .await
            .expect("the script runs")
    }

    /// Opens an item and waits until it can be decided.
    pub async fn open_item(&self, hub: &Hub, id: &str) {
        self.open(hub, &format!("/inbox/items/{id}")).await;
        self.item_ready(id).await;
    }

    /// Waits until the item is shown and can be decided.
    pub async fn item_ready(&self, id: &str) {
        self.wait_for(&format!("#item[data-id='{id}'] #panel:not([data-guarded])"))
            .await;
    }

    /// Waits until the choices of an item are enabled, half a second after it appears.
    pub async fn guard_off(&self) {
        self.wait_for("#panel:not([data-guarded])").await;
    }

    /// Saves a screenshot of the whole page, from top to bottom.
    pub async fn whole_page(&self, name: &str) {
        let params = json!({"captureBeyondViewport": true});
        let picture = self.devtools("Page.captureScreenshot", params).await;
        let picture = STANDARD
            .decode(picture["data"].as_str().unwrap_or_default())
            .expect("base64");
        std::fs::write(artifacts().join(format!("{name}.png")), picture).expect("the screenshot is kept");
    }

    /// What the window shows, as PNG.
    pub async fn picture(&self) -> Vec<u8> {
        self.client.screenshot().await.expect("a screenshot")
    }

    /// Saves a screenshot for review by a person.
    pub async fn screenshot(&self, name: &str) {
        std::fs::write(artifacts().join(format!("{name}.png")), self.picture().await).expect("the screenshot is kept");
    }

    /// The console messages since the last call, such as CSP violations.
    pub async fn console_messages(&mut self) -> Vec<String> {
        let entries = self.driver_post("se/log", &json!({"type": "browser"})).await;
        let texts = entries
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|entry| entry["message"].as_str());
        self.console.extend(texts.map(str::to_owned));
        std::mem::take(&mut self.console)
    }

    pub async fn finish(self) {
        self.client.clone().close().await.expect("the browser closes");
    }
}

/// The folder of screenshots: `COUNTERSIGN_ARTIFACTS`, or below the target directory.
pub fn artifacts() -> PathBuf {
    let default = || PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("screenshots");
    let folder = std::env::var_os("COUNTERSIGN_ARTIFACTS").map_or_else(default, PathBuf::from);
    std::fs::create_dir_all(&folder).expect("a folder for pictures");
    folder
}

fn capabilities(program: Program, look: Viewport, profile: &Scratch) -> Capabilities {
    let mut args = vec![
        "--headless=new".to_owned(),
        "--no-sandbox".to_owned(),
        "--disable-gpu".to_owned(),
        "--disable-quic".to_owned(),
        "--disable-dev-shm-usage".to_owned(),
        "--no-first-run".to_owned(),
        "--disable-background-networking".to_owned(),
        "--disable-component-update".to_owned(),
        "--disable-sync".to_owned(),
        "--hide-scrollbars".to_owned(),
    ];
    args.push(format!("--user-data-dir={}", profile.path("profile").display()));
    args.push(format!("--window-size={},{}", look.width.max(500), look.height));
    let scripts = if look.scripts { 1 } else { 2 };
    let options = json!({
        "args": args,
        "binary": on_path(program.file),
        "prefs": {"profile.managed_default_content_settings.javascript": scripts},
    });
    let wanted = json!({
        "browserName": program.name,
        "goog:chromeOptions": options,
        "goog:loggingPrefs": {"browser": "ALL"},
        "unhandledPromptBehavior": "accept",
    });
    wanted.as_object().cloned().unwrap_or_default()
}

fn on_path(program: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut programs = std::env::split_paths(&path).map(|directory| directory.join(program));
    programs.find(|file| file.exists()).expect(program)
}

impl Drop for Browser {
    /// The driver starts Chromium outside of its own process group, so its processes are found by their profile path,
    /// which is unique.
    fn drop(&mut self) {
        self.driver.kill();
        let ours = self.profile.path("profile").display().to_string();
        let Ok(processes) = std::fs::read_dir("/proc") else {
            return;
        };
        for process in processes.flatten() {
            let command = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
            if String::from_utf8_lossy(&command).contains(&ours) {
                let pid = process.file_name().to_string_lossy().into_owned();
                let _ = Command::new("kill").args(["-9", &pid]).status();
            }
        }
    }
}
