use serde_json::json;

use super::*;

const PATCH: &str =
    "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@ fn main\n same\n--- dropped\n+++ gained\n end\n";

/// The shown lines, each as its class, numbers and text; files as `[name +added −deleted]`.
fn outline(text: &str) -> Vec<String> {
    let html = diff(text).to_string();
    let plain = |html: &str| {
        let outside = html
            .split('<')
            .map(|piece| piece.split_once('>').map_or(piece, |(_, text)| text));
        outside.collect::<String>().trim_end().to_owned()
    };
    let mut found = Vec::new();
    for piece in html.split("<div class=\"").skip(1) {
        for (nth, block) in piece.split("<summary>").enumerate() {
            match block.split_once("</summary>") {
                Some((head, _)) if nth > 0 => found.push(format!("[{}]", plain(head))),
                _ if block.starts_with("lines") || block.starts_with("diff") => {}
                _ => {
                    let (class, rest) = block.split_once('"').unwrap_or_default();
                    let number = rest.strip_prefix(" data-n=\"").and_then(|rest| rest.split_once('"'));
                    let line = rest.split_once("</div>").map_or(rest, |(line, _)| line);
                    let text = plain(&format!("<{line}"));
                    found.push(format!("{class}|{}|{text}", number.map_or("", |(number, _)| number)));
                }
            }
        }
    }
    found
}

#[test]
fn a_file_has_a_header_numbers_and_marks() {
    let expected = concat!(
        r#"<div class="diff"><details class="file" open><summary><span class="name">x</span> "#,
        r#"<span class="sums"><span class="plus">+1</span> <span class="minus">−1</span></span></summary><div class="lines">"#,
        r#"<div class="hunk" data-n="   "><code>@@ -1,3 +1,3 @@ fn main"#,
        "\n</code></div>",
        r#"<div class="same" data-n="1 1"><code>same"#,
        "\n</code></div>",
        r#"<div class="del" data-n="2  "><code>-- dropped"#,
        "\n</code></div>",
        r#"<div class="add" data-n="  2"><code>++ gained"#,
        "\n</code></div>",
        r#"<div class="same" data-n="3 3"><code>end"#,
        "\n</code></div></div></details></div>",
    );
    assert_eq!(diff(PATCH).as_str(), expected);
}

#[test]
fn next_hunk_and_next_file_are_found_whatever_the_counts_say() {
    let text = "--- a/src/tax.rs\n+++ b/src/tax.rs\n@@ -12,9 +12,11 @@\n-old\n+new\n \n@@ -40,4 +42,4 @@\n-a\n+b\n\
                diff --git a/Cargo.toml b/Cargo.toml\nindex 1..2 100644\n--- a/Cargo.toml\n+++ b/Cargo.toml\n@@ -1,30 +1,30 @@\n [package]\n-v1\n+v2\n\
                --- a/third\n+++ b/third\n@@ -1,0 +1 @@\n+x\n+y\n";
    let expected = [
        "[src/tax.rs +2 −2]",
        "hunk|     |@@ -12,9 +12,11 @@",
        "del|12   |old",
        "add|   12|new",
        "same|13 13|",
        "hunk|     |@@ -40,4 +42,4 @@",
        "del|40   |a",
        "add|   42|b",
        "[Cargo.toml +1 −1]",
        "meta|   |index 1..2 100644",
        "hunk|   |@@ -1,30 +1,30 @@",
        "same|1 1|[package]",
        "del|2  |v1",
        "add|  2|v2",
        "[third +2 −0]",
        "hunk|   |@@ -1,0 +1 @@",
        "add|  1|x",
        "add|  2|y",
    ];
    assert_eq!(outline(text), expected);
    let html = diff(text).to_string();
    assert!(html.contains(r#"<p class="total">3 files changed <span class="sums"><span class="plus">+5</span> <span class="minus">−3</span>"#), "{html}");
}

#[test]
fn new_deleted_and_renamed_files_say_so() {
    let head = |old: &str, new: &str| outline(&format!("--- {old}\n+++ {new}\n@@ -1 +1 @@\n+x\n"))[0].clone();
    assert_eq!(head("/dev/null", "b/x"), "[x new file +1 −0]");
    assert_eq!(head("a/x", "/dev/null"), "[x deleted +1 −0]");
    assert_eq!(head("a/x", "b/y\t2026-01-01"), "[x → y +1 −0]");
    let renamed = outline("diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n");
    assert_eq!(
        renamed,
        [
            "[x → y +0 −0]",
            "meta||similarity index 100%",
            "meta||rename from x",
            "meta||rename to y"
        ]
    );
}

#[test]
fn missing_headers_are_tolerated() {
    assert_eq!(
        outline("-old\n+new\n--- alone\nsame"),
        ["del||old", "add||new", "del||-- alone", "same||same"]
    );
    assert_eq!(
        outline("@@ fn main @@\n-a\n+b"),
        ["hunk||@@ fn main @@", "del||a", "add||b"]
    );
    assert_eq!(outline("@@ -1 +1 @@\n-a\n+b\n+more")[3], "add|  2|more");
    assert_eq!(
        outline("Look:\n--- a/x\n+++ b/x\n-a\n"),
        ["same||Look:", "[x +0 −1]", "del||a"]
    );
}

#[test]
fn words_that_differ_and_code_are_marked() {
    let html = diff("--- a/x.rs\n+++ b/x.rs\n@@ -1 +1 @@\n-let a = 2; // <n>\n+let a = 3; // <n>\n").to_string();
    assert!(
        html.contains(
            r#"<span class="k">let</span> a = <mark><span class="n">3</span></mark>; <span class="c">// &lt;n&gt;</span>"#
        ),
        "{html}"
    );
}

#[test]
fn a_hunk_may_announce_more_lines_than_can_be_counted() {
    let most = usize::MAX;
    let html = diff(&format!("@@ -{most},{most} +{most},{most} @@\n-a\n-b\n+b\n")).to_string();
    assert_eq!(html.matches(r#"<div class="del""#).count(), 2, "{html}");
    assert_eq!(
        outline("@@ -1,99999999999999999999999 +1 @@\n-a"),
        ["hunk||@@ -1,99999999999999999999999 +1 @@", "del||a"]
    );
}

#[test]
fn diff_text_is_never_markup_and_hides_no_characters() {
    let evil = "<script>\u{202e}\u{200b}\"&amp;";
    let html = diff(&format!(
        "--- a/{evil}.x\n+++ b/{evil}\n@@ -1 +1 @@ {evil}\n+{evil}\n-{evil}\n {evil}\n{evil}\n\\{evil}\n"
    ))
    .to_string();
    assert_eq!(
        html.matches("&lt;script&gt;\\u{202e}\\u{200b}\"&amp;amp;").count(),
        8,
        "{html}"
    );
    assert!(
        !html.contains("<script") && !html.contains(['\u{202e}', '\u{200b}']),
        "{html}"
    );
}

#[test]
fn large_files_start_closed_and_the_rest_of_a_long_diff_is_unmarked() {
    let file = |name: &str, lines: usize| format!("--- a/{name}\n+++ b/{name}\n@@ -1 +1 @@\n{}", "+a\n".repeat(lines));
    let html = diff(&(file("small", 3) + &file("large", 1000) + &file("late", 3))).to_string();
    assert_eq!(html.matches(r#"<details class="file" open>"#).count(), 1);
    assert_eq!(html.matches(r#"<details class="file">"#).count(), 2);

    let html = diff(&"+a\n".repeat(MAX_LINES + 3)).to_string();
    assert_eq!(html.matches(r#"<div class="add""#).count(), MAX_LINES);
    assert!(html.ends_with("<details><summary>… 3 more lines</summary><pre>+a\n+a\n+a\n</pre></details></div>"));
    assert!(!diff(&"+a\n".repeat(MAX_LINES)).as_str().contains("<details>"));
}

#[test]
fn diff_is_recognized_by_metadata_or_by_its_hunks() {
    assert!(looks_like_diff(PATCH, None));
    assert!(looks_like_diff("diff --git a/x b/x\n@@ -1 +1 @@\n-a", None));
    assert!(looks_like_diff("+a", Some(&json!({"format": "diff"}))));
    assert!(looks_like_diff("+a", Some(&json!({"mime_type": "text/x-Diff"}))));
    for text in [
        "",
        "--- a\n+++ b\n",
        "- one\n- two\n+ three",
        "@@ -1 +1 @@\n-a",
        "---\n+++\n@@ -1 +1 @@",
        "Look:\n\n```diff\n--- a\n+++ b\n@@ -1 +1 @@\n```\n",
    ] {
        assert!(!looks_like_diff(text, Some(&json!({"format": "markdown"}))), "{text}");
    }
}
