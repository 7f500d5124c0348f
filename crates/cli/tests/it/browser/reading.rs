//! How the content of an agent reads: Markdown, code, diffs, JSON and images, on a phone and a large screen.

use serde_json::{Value, json};

use super::accessibility::{accessibility_findings, axe, findings_in_all_themes};
use super::chrome::{Browser, Viewport};
use crate::harness::{Agent, Setup, ask};
use crate::web::image::ImageHost;

const WIDE: Viewport = Viewport {
    width: 1440,
    ..Viewport::DESKTOP
};
const TABLET: Viewport = Viewport {
    width: 820,
    height: 1180,
    ..Viewport::DESKTOP
};
const PHONE: Viewport = Viewport {
    width: 390,
    ..Viewport::PHONE
};

const BODY: &str = r#"### Summary

The refactoring replaces the **three** places that compute tax with one. Nothing in the public API changes; see [the record](https://docs.example/adr/17).

- [x] `tax::rate` is the only place that reads the table
- [x] 41 tests added
- [ ] the migration is announced

##### Before and after

| country | old | new |
|---|--:|--:|
| Germany | 19.00 | 19.00 |
| Norway | 25.01 | 25.00 |

```rust
pub fn rate(country: Country, at: Date) -> Rate {
    // The last entry not after `at` holds.
    TABLE[country].iter().rev().find(|e| e.from <= at).map_or(Rate::ZERO, |e| e.rate)
}
```

```python
def total(items):
    """Sum with half-even rounding."""
    return sum(round(i.net * 1.19, 2) for i in items)  # cents
```

```sql
SELECT country, rate FROM tax WHERE "from" <= '2026-01-01' ORDER BY 1 -- newest last
```

```yaml
service: billing # the name
replicas: 3
image: "registry.example/billing:1.5.0"
```

```sh
if [ -f rates.csv ]; then ./import "$PWD/rates.csv"; fi
```

"#;

/// Three files, and none of the counts is right.
const DIFF: &str = "diff --git a/src/tax.rs b/src/tax.rs
--- a/src/tax.rs
+++ b/src/tax.rs
@@ -12,9 +12,11 @@ impl Table {
-    pub fn rate(&self, c: Country) -> f64 {
-        self.rates[&c]
-    }
+    /// The rate that held at `at`.
+    pub fn rate(&self, c: Country, at: Date) -> Rate {
+        self.entries(c).rev().find(|e| e.from <= at).map_or(Rate::ZERO, |e| e.rate)
+    }

     pub fn countries(&self) -> impl Iterator<Item = Country> {
@@ -40,4 +42,4 @@ fn round(value: f64) -> f64 {
-    (value * 100.0).round() / 100.0
+    (value * 100.0).round_ties_even() / 100.0
 }
diff --git a/Cargo.toml b/Cargo.toml
--- a/Cargo.toml
+++ b/Cargo.toml
@@ -1,30 +1,30 @@
 [package]
 name = \"tax\"
-version = \"1.4.0\"
+version = \"1.5.0\"
--- /dev/null
+++ b/docs/rounding.md
@@ -0,0 +1,9 @@
+# Rounding
+Half to even, everywhere.
";

fn jobs() -> Vec<Value> {
    let job = |n: usize| json!({"job": format!("test-{n}"), "state": if n.is_multiple_of(7) { "failed" } else { "passed" }, "seconds": n * 3, "steps": [n, n + 1]});
    (0..60).map(job).collect()
}

async fn item(bot: &Agent, host: &ImageHost) -> String {
    let mut envelope = ask("bot");
    envelope["title"] = "Merge `tax::rate` (PR #482)?".into();
    envelope["body"] = format!(
        "{BODY}![Chart of differences]({})\n\n![gone]({})",
        host.url("/dot.png"),
        host.url("/missing.png")
    )
    .into();
    envelope["context"] = json!([
        {"kind": "text", "text": DIFF},
        {"kind": "data", "data": {"pr": 482, "branch": "tax-refactoring", "files": (0..40).map(|n| format!("src/{n}.rs")).collect::<Vec<_>>(), "jobs": jobs()}},
        {"kind": "data", "data": {"pr": 482}, "metadata": {"from": "ci"}},
    ]);
    bot.accepted(&envelope).await
}

#[tokio::test]
async fn everything_an_agent_sends_reads_well_on_every_screen_in_both_themes() {
    let axe = axe();
    let hub = Setup::pushing().start().await;
    let host = ImageHost::start().await;
    let bot = hub.agent("bot").await;
    let id = item(&bot, &host).await;
    let mut findings = Vec::new();
    for (look, name) in [(PHONE, "390"), (TABLET, "820"), (WIDE, "1440")] {
        let name = format!("reading-{name}");
        let mut browser = Browser::signed_in_as(look, &hub, "owner").await;
        browser.open_item(&hub, &id).await;
        let width = browser
            .script("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
            .await;
        assert_eq!(width, 0, "{name} scrolls sideways");
        for (dark, theme) in [(true, "dark"), (false, "light")] {
            browser.prefer(dark).await;
            browser.whole_page(&format!("{name}-{theme}")).await;
        }
        findings.extend(findings_in_all_themes(&mut browser, &axe, &name).await);
        browser.finish().await;
    }
    assert!(findings.is_empty(), "{}", findings.join("\n"));
    assert_eq!(host.requests(), 0, "an image was fetched that nobody asked for");
}

#[tokio::test]
async fn code_and_diffs_are_readable_in_a_theme_chosen_against_the_system() {
    let axe = axe();
    let hub = Setup::pushing().start().await;
    let host = ImageHost::start().await;
    let bot = hub.agent("bot").await;
    let id = item(&bot, &host).await;
    for (system_is_dark, theme, line) in [
        (false, "dark", "rgb(21, 44, 29)"),
        (true, "light", "rgb(220, 242, 227)"),
    ] {
        let look = Viewport {
            dark: system_is_dark,
            ..WIDE
        };
        let mut browser = Browser::signed_in_as(look, &hub, "owner").await;
        browser.choose_theme(theme).await;
        browser.open_item(&hub, &id).await;
        let added = "return getComputedStyle(document.querySelector('.diff .add')).backgroundColor";
        assert_eq!(browser.script(added).await, line, "an added line in the theme {theme}");
        let name = format!("reading-chosen-{theme}");
        browser.whole_page(&name).await;
        let findings = accessibility_findings(&mut browser, &axe, &name).await;
        assert!(findings.is_empty(), "{}", findings.join("\n"));
        browser.finish().await;
    }
}

#[tokio::test]
async fn an_image_appears_in_place_of_its_button_and_a_failure_says_why() {
    let hub = Setup::pushing().start().await;
    let host = ImageHost::start().await;
    let bot = hub.agent("bot").await;
    let id = item(&bot, &host).await;
    let browser = Browser::signed_in(WIDE, &hub).await;
    browser.open_item(&hub, &id).await;
    browser.click(".image:has(a[href$='dot.png']) button").await;
    browser.wait_for("#body .image img[alt='Chart of differences']").await;
    let seen = "const image = document.querySelector('#body .image img'); return [image.naturalWidth, new URL(image.src).origin === location.origin]";
    assert_eq!(browser.script(seen).await, json!([1, true]));
    browser.click(".image:has(a[href$='missing.png']) button").await;
    browser.wait_for_text(".image .error", "its host answered 404").await;
    browser.finish().await;
}

#[tokio::test]
async fn a_block_of_code_is_copied_by_its_button_and_a_diff_without_numbers_and_signs() {
    let hub = Setup::pushing().start().await;
    let host = ImageHost::start().await;
    let bot = hub.agent("bot").await;
    let id = item(&bot, &host).await;
    let browser = Browser::signed_in(WIDE, &hub).await;
    browser.open_item(&hub, &id).await;
    browser
        .script("navigator.clipboard.writeText = async (text) => { window.copied = text }")
        .await;
    browser.click("#body .copyable .copy").await;
    browser.wait_for_text("#body .copyable .copy", "Copied").await;
    let copied = browser.script("return window.copied").await;
    assert!(
        copied
            .as_str()
            .is_some_and(|text| text.starts_with("pub fn rate(country")),
        "{copied}"
    );
    let selected = "getSelection().selectAllChildren(document.querySelector('.diff .file:nth-of-type(2)')); return getSelection().toString()";
    let selected = browser.script(selected).await;
    let lines: Vec<&str> = selected
        .as_str()
        .expect("a text")
        .lines()
        .filter(|line| !line.is_empty())
        .collect();
    assert_eq!(
        lines[lines.len() - 4..],
        [
            "[package]",
            "name = \"tax\"",
            "version = \"1.4.0\"",
            "version = \"1.5.0\""
        ],
        "{selected}"
    );
    browser.finish().await;
}
