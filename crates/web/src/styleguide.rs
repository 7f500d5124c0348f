//! GET /inbox/styleguide: every component of the pages on one page, for owners.

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::get;
use countersign_hub::Hub;
use serde_json::json;

use crate::layout::avatar::Avatar;
use crate::layout::filters;
use crate::layout::page::{PageError, PageLayout, PageRequest, PageSection, render};
use crate::layout::qr_code::QrCode;
use crate::layout::signed_in_user::SignedInOwner;
use crate::pulse::chart::{Bar, Chart};
use crate::text::{self, SafeHtml};

const COLOURS: [(&str, &str); 24] = [
    ("page", "the page"),
    ("surface", "cards, header, rows"),
    ("sunk", "fields, hover, badges"),
    ("ink", "text"),
    ("dim", "quiet text"),
    ("line", "lines"),
    ("edge", "borders of controls"),
    ("accent", "links, focus, main button"),
    ("accent-soft", "cursor, selection"),
    ("good", "approved, delivered"),
    ("good-soft", "its background"),
    ("bad", "denied, failed, urgent"),
    ("bad-soft", "its background"),
    ("warn", "ends soon, waits long"),
    ("warn-soft", "its background"),
    ("code-key", "keys in code"),
    ("code-number", "numbers"),
    ("code-text", "strings"),
    ("code-word", "keywords"),
    ("code-note", "comments, line numbers"),
    ("add", "added lines"),
    ("add-word", "their words"),
    ("del", "deleted lines"),
    ("del-word", "their words"),
];
const AGENTS: [&str; 12] = [
    "deploybot",
    "coder",
    "certbot",
    "acme/onboarding",
    "research/analyst",
    "ci/nightly",
    "billing-agent",
    "support-triage",
    "release",
    "docs",
    "infra/dns",
    "claude",
];

const MARKDOWN: &str = "All checks are **green**; see [the run](https://ci.example/run/42).\n\n- [x] tests\n- [ ] \
                        release notes\n\n> A rollback takes 40 seconds.\n\n| step | time | share |\n|---|--:|:-:|\n| build | 3 \
                        min | 20 % |\n\n![A chart](https://ci.example/chart.png)\n\n```rust\n// One more replica.\nfn replicas() \
                        -> u32 {\n    scale(\"eu\", 3)\n}\n```\n\n```toml\nreplicas = 3\n```";
const DIFF: &str = "diff --git a/shop.toml b/shop.toml\nindex 4e1d2..8a0f7 100644\n--- a/shop.toml\n+++ b/shop.toml\n@@ -2,3 +2,3 @@\n name = \"shop\"\n-replicas = 2\n+replicas = 3\n timeout = \
                    30\n--- a/notes.md\n+++ b/notes.md\n@@ -1 +1,2 @@\n # 2.4.1\n+- A third replica.\n";

#[derive(Template)]
#[template(path = "styleguide.html")]
struct StyleguidePage {
    layout: PageLayout,
    colours: [(&'static str, &'static str); 24],
    avatars: Vec<(&'static str, Avatar)>,
    code: Option<QrCode>,
    markdown: SafeHtml,
    diff: SafeHtml,
    json: SafeHtml,
    chart: Chart,
}

impl StyleguidePage {
    fn of(layout: PageLayout) -> Self {
        Self {
            layout,
            colours: COLOURS,
            avatars: AGENTS.map(|name| (name, Avatar::of(name, name))).to_vec(),
            code: QrCode::of("https://hub.example"),
            markdown: text::markdown_with_images(MARKDOWN),
            diff: text::diff(DIFF),
            json: text::tree(&json!({
                "build": 42, "green": true, "notes": null, "region": "eu", "labels": {},
                "steps": [{"name": "build", "minutes": 3}, {"name": "test", "minutes": 12}],
            })),
            chart: Chart::of(vec![
                bar("09:00", &[("good", 5), ("bad", 1)]),
                bar("10:00", &[("good", 3), ("plain", 2), ("late", 1)]),
                bar("11:00", &[("good", 2), ("quiet", 1)]),
            ]),
        }
    }
}

fn bar(label: &str, parts: &[(&'static str, usize)]) -> Bar {
    let figures: Vec<String> = parts.iter().map(|(style, count)| format!("{count} {style}")).collect();
    Bar {
        label: label.to_owned(),
        title: format!("{label}: {}", figures.join(", ")),
        parts: parts.to_vec(),
    }
}

pub fn router() -> Router<Arc<Hub>> {
    Router::new().route("/inbox/styleguide", get(styleguide))
}

async fn styleguide(
    State(hub): State<Arc<Hub>>,
    SignedInOwner(user): SignedInOwner,
    request: PageRequest,
) -> Result<Response, PageError> {
    let layout = PageLayout::of(&hub, &user, &request, PageSection::Styleguide, "Style guide").await?;
    Ok(render(StatusCode::OK, &StyleguidePage::of(layout)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The classes in the selectors of the stylesheet.
    fn styled_classes() -> BTreeSet<String> {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/css");
        let files = std::fs::read_dir(folder).expect("the styles");
        let styles = files.map(|file| std::fs::read_to_string(file.expect("a file").path()).expect("a stylesheet"));
        let mut classes = BTreeSet::new();
        for style in styles {
            let rules: String = style
                .split("/*")
                .map(|text| text.split_once("*/").map_or(text, |(_, rule)| rule))
                .collect();
            let (blocks, _) = rules.rsplit_once('{').expect("rules");
            let preludes = blocks.split('{').filter_map(|text| text.rsplit(['}', ';']).next());
            for selector in preludes.filter(|prelude| !prelude.trim().starts_with('@')) {
                let named = selector.split('.').skip(1);
                let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
                classes.extend(named.map(|text| text.chars().take_while(|letter| is_of_name(*letter)).collect()));
            }
        }
        classes
    }

    #[test]
    fn every_class_of_the_stylesheet_is_on_the_style_guide() {
        let layout = PageLayout {
            person: "ann".to_owned(),
            ..PageLayout::anonymous(&PageRequest::default(), PageSection::Styleguide, "Style guide")
        };
        let page = StyleguidePage::of(layout).render().expect("a page");
        let shown: BTreeSet<&str> = page
            .split("class=\"")
            .skip(1)
            .filter_map(|rest| rest.split('"').next())
            .flat_map(str::split_whitespace)
            .collect();
        let styled = styled_classes();
        assert!(styled.len() > 100, "{styled:?}");
        let missing: Vec<_> = styled.iter().filter(|class| !shown.contains(class.as_str())).collect();
        assert!(missing.is_empty(), "the style guide lacks {missing:?}");
    }
}
