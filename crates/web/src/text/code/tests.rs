use super::*;

fn coloured(name: &str, text: &str) -> String {
    let mut html = HtmlBuilder::new();
    ColouredCode::new(text, KnownLanguage::by_name(name)).write(&mut html);
    let mut short = html.finish().to_string();
    for class in ["c", "s", "n", "k", "y"] {
        short = short.replace(&format!(r#"<span class="{class}">"#), &format!("[{class} "));
    }
    short.replace("</span>", "]")
}

#[test]
fn the_languages_that_agents_send_have_colours() {
    for (name, text, expected) in [
        (
            "rust",
            "pub fn a<'a>(x: &'a str) -> u8 { b'\\n' + 0x1f } // ok",
            "[k pub] [k fn] a&lt;'a&gt;(x: &amp;'a str) -&gt; u8 { b[s '\\n'] + [n 0x1f] } [c // ok]",
        ),
        (
            "python",
            "def f(x):\n    \"\"\"It's\n    two\"\"\"\n    return None  # why",
            "[k def] f(x):\n    [s \"\"\"It's\n    two\"\"\"]\n    [k return] [k None]  [c # why]",
        ),
        (
            "ts",
            "const a = `x\n${b}` /* c */;",
            "[k const] a = [s `x\n${b}`] [c /* c */];",
        ),
        (
            "json",
            "{\"a\": \"b\", \"c\": [1, true]}",
            "{[y \"a\"]: [s \"b\"], [y \"c\"]: [[n 1], [k true]]}",
        ),
        (
            "yaml",
            "- name: a#b # c\n  image-tag: \"v1\"",
            "- [y name]: a#b [c # c]\n  [y image-tag]: [s \"v1\"]",
        ),
        ("toml", "[a]\nkey = 'x'", "[a]\n[y key] = [s 'x']"),
        (
            "sh",
            "if [ -f x ]; then echo \"$A\" 'b'; fi # c",
            "[k if] [ -f x ]; [k then] echo [s \"$A\"] [s 'b']; [k fi] [c # c]",
        ),
        (
            "sql",
            "SELECT a FROM t -- c\nwhere b = 'it''s'",
            "[k SELECT] a [k FROM] t [c -- c]\n[k where] b = [s 'it'][s 's']",
        ),
        (
            "html",
            "<p class=\"a\">it's 1</p><!-- c -->",
            "[k &lt;p] [y class]=[s \"a\"]&gt;it's 1[k &lt;/p]&gt;[c &lt;!-- c --&gt;]",
        ),
        (
            "css",
            "a {\n  color: #fff; /* c */\n}",
            "a {\n  [y color]: #fff; [c /* c */]\n}",
        ),
        (
            "go",
            "func f() string { return `a\nb` }",
            "[k func] f() [k string] { [k return] [s `a\nb`] }",
        ),
        (
            "java",
            "public class A { int b = 1; }",
            "[k public] [k class] A { [k int] b = [n 1]; }",
        ),
        (
            "c++",
            "#include <a>\nint x = 1; // c",
            "#[k include] &lt;a&gt;\n[k int] x = [n 1]; [c // c]",
        ),
        (
            "dockerfile",
            "FROM a AS b\n# c\nRUN x",
            "[k FROM] a [k AS] b\n[c # c]\n[k RUN] x",
        ),
        (
            "hcl",
            "resource \"a\" \"b\" {\n  size = 2\n}",
            "[k resource] [s \"a\"] [s \"b\"] {\n  [y size] = [n 2]\n}",
        ),
    ] {
        assert_eq!(coloured(name, text), expected, "{name}");
    }
    assert_eq!(coloured("nonsense", "fn a"), "fn a");
}

#[test]
fn unfinished_texts_and_comments_lose_nothing_and_hide_no_characters() {
    for name in ["rust", "python", "js", "html", "sh", "sql", "yaml", "json"] {
        for text in [
            "\"abc",
            "'abc",
            "`a",
            "'''",
            "/* a",
            "<!-- a",
            "<a b='",
            "'\\",
            "\"\\",
            "'",
            "é'ü'",
            "# \u{202e}<b>\u{200b}",
            "\u{fe0f}\0",
        ] {
            let html = coloured(name, text);
            let bare: String = ["[c ", "[s ", "[n ", "[k ", "[y ", "]"]
                .iter()
                .fold(html, |html, mark| html.replace(mark, ""));
            let shown = countersign_protocol::escape::escape_lines(text)
                .replace('<', "&lt;")
                .replace('>', "&gt;");
            assert_eq!(bare, shown, "{name}");
        }
    }
}

#[test]
fn a_part_of_the_code_keeps_its_colours() {
    let mut html = HtmlBuilder::new();
    let code = ColouredCode::new("let a = \"xyz\";", KnownLanguage::by_name("rust"));
    code.write_range(&mut html, 4..11);
    assert_eq!(html.as_str(), "a = <span class=\"s\">\"xy</span>");
}

#[test]
fn colours_end_after_a_bound_and_the_text_goes_on() {
    let html = coloured("json", &"1,".repeat(MAX_PIECES + 10));
    assert_eq!(html.matches("[n 1]").count(), MAX_PIECES);
    assert!(html.ends_with(",1,1,1,"));
}
