use serde_json::json;

use super::tree::{MAX_DEPTH, MAX_NODES};
use super::*;

#[test]
fn every_kind_of_value_is_rendered() {
    let value = json!({"a": [1, true], "b": {}, "c": [], "d": null, "e": "x", "f": "two\nlines"});
    let expected = concat!(
        r#"<div class="json"><details class="tree" open><summary><span class="size">6 fields</span></summary><ul>"#,
        r#"<li><details class="tree" open><summary><span class="key">a</span>: "#,
        r#"<span class="size">2 entries</span></summary><ul>"#,
        r#"<li><span class="number">1</span></li><li><span class="bool">true</span></li></ul></details></li>"#,
        r#"<li><span class="key">b</span>: <span class="empty">{}</span></li>"#,
        r#"<li><span class="key">c</span>: <span class="empty">[]</span></li>"#,
        r#"<li><span class="key">d</span>: <span class="null">null</span></li>"#,
        r#"<li><span class="key">e</span>: <span class="string">"x"</span></li>"#,
        "<li><span class=\"key\">f</span>: <pre class=\"string\">two\nlines</pre></li>",
        "</ul></details></div>",
    );
    assert_eq!(tree(&value).as_str(), expected);
}

#[test]
fn keys_and_texts_are_never_markup_and_hide_no_characters() {
    let evil = "<img src=x onerror=alert(1)>\u{202e}\u{200b}\"'&";
    let html = tree(&json!({evil: [evil, {"x": evil}], "rows": [{evil: evil}, {evil: 1}]})).to_string();
    assert!(
        !html.contains("<img") && !html.contains(['\u{202e}', '\u{200b}']),
        "{html}"
    );
    let shown = "&lt;img src=x onerror=alert(1)&gt;\\u{202e}\\u{200b}\"'&amp;";
    assert_eq!(html.matches(shown).count(), 5, "{html}");
}

/// The number of entries and rows that a reader sees before opening anything.
fn open_lines(html: &str) -> usize {
    let mut count = 0;
    let mut boxes = Vec::new();
    for tag in html.split('<').skip(1) {
        if tag.starts_with("details") {
            boxes.push(tag.contains(" open>"));
        } else if tag.starts_with("/details") {
            boxes.pop();
        } else if tag.starts_with("tr>") || tag.starts_with("li>") {
            count += usize::from(boxes.iter().all(|is_open| *is_open));
        }
    }
    count
}

#[test]
fn at_most_about_twenty_lines_start_open() {
    let files: Vec<String> = (0..40).map(|n| format!("src/{n}.rs")).collect();
    let jobs: Vec<Value> = (0..60)
        .map(|n| json!({"job": n, "state": "ok", "steps": [1, 2]}))
        .collect();
    let deep = json!({"a": {"b": {"c": {"d": (0..15).collect::<Vec<_>>()}}}});
    for value in [
        json!({"files": files, "jobs": jobs, "deep": deep}),
        json!(jobs),
        json!(files),
        json!({"a": (0..12).collect::<Vec<_>>(), "b": (0..12).collect::<Vec<_>>()}),
    ] {
        let html = tree(&value).to_string();
        assert!((5..=22).contains(&open_lines(&html)), "{} in {html}", open_lines(&html));
    }
    let small = tree(&json!({"a": {"b": {"c": [1, 2, 3]}}})).to_string();
    assert_eq!(small.matches(r#"<details class="tree" open>"#).count(), 4, "{small}");
    let html = tree(&json!(files)).to_string();
    assert!(
        html.contains(r#"<span class="size">30 more</span>"#) && html.contains("src/39.rs"),
        "{html}"
    );
}

#[test]
fn alike_objects_are_a_table() {
    let expected = concat!(
        r#"<div class="json"><details class="tree" open><summary><span class="size">2 entries</span></summary>"#,
        r#"<div class="table"><table><thead><tr><th scope="col">id</th><th scope="col">name</th></tr></thead><tbody>"#,
        r#"<tr><td><span class="number">1</span></td><td><span class="string">build it</span></td></tr>"#,
        r#"<tr><td><span class="number">2</span></td><td><span class="string">"3"</span></td></tr>"#,
        r#"</tbody></table></div></details></div>"#,
    );
    assert_eq!(
        tree(&json!([{"id": 1, "name": "build it"}, {"id": 2, "name": "3"}])).as_str(),
        expected
    );
    for unlike in [
        json!([{"a": 1}]),
        json!([{"a": 1}, 2]),
        json!([{"a": 1}, {"b": 2}]),
        json!([{}, {}]),
    ] {
        assert!(!tree(&unlike).as_str().contains("<table"), "{unlike}");
    }
}

#[test]
fn wide_and_long_tables_fold_the_rest() {
    let row: serde_json::Map<String, Value> = (0..12).map(|n| (format!("c{n:02}"), json!(n))).collect();
    let html = tree(&json!(vec![row; 30])).to_string();
    assert_eq!(
        html.matches("<th scope=\"col\">").count(),
        2 * 9,
        "two tables of eight columns and one for the rest"
    );
    assert_eq!(
        html.matches(r#"<details class="tree"><summary><span class="size">4 fields</span>"#)
            .count(),
        30
    );
    assert!(html.contains(r#"<span class="size">20 more rows</span>"#), "{html}");
    assert_eq!(html.matches("<tr>").count(), 32);
}

#[test]
fn value_too_large_for_a_tree_is_shown_as_complete_text() {
    let wide = json!({"note": "small", "wide": (0..MAX_NODES).collect::<Vec<_>>()});
    let html = tree(&wide).to_string();
    assert!(
        html.contains(r#"<span class="string">"small"</span>"#),
        "the rest stays a tree"
    );
    assert!(html.contains(r#"<span class="key">wide</span>: <pre class="raw">["#) && html.contains("1999\n]</pre>"));

    let mut deep = json!("bottom\u{202e}");
    (0..100).for_each(|_| deep = json!([deep]));
    let html = tree(&deep).to_string();
    assert_eq!(html.matches("<details").count(), MAX_DEPTH);
    assert!(html.contains("bottom\\u{202e}") && html.len() < 10_000, "{html}");
}

#[test]
fn only_small_json_is_pretty_printed() {
    assert_eq!(json(&json!({"a": [1]})), "{\n  \"a\": [\n    1\n  ]\n}");
    let mut indented = json!(vec![0; 10_000]);
    (1..INDENTED_DEPTH).for_each(|_| indented = json!([indented]));
    assert_eq!(json(&indented), indented.to_string());
}
