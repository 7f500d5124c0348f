use std::time::{Duration, Instant};

use super::*;

fn html(text: &str) -> String {
    markdown(text).to_string()
}

const ALLOWED_TAGS: &str = "a blockquote br button code del details div em h2 h3 h4 h5 h6 hr input li mark ol p pre span strong summary table tbody td th thead tr ul";

/// Asserts that the HTML has only allowed tags, no event handlers, no script URLs and no hidden characters.
fn assert_harmless(text: &str) {
    let html = html(text);
    let lower = html.to_ascii_lowercase();
    for tag in lower.split('<').skip(1) {
        let name: String = tag
            .trim_start_matches('/')
            .chars()
            .take_while(char::is_ascii_alphanumeric)
            .collect();
        assert!(
            ALLOWED_TAGS.split(' ').any(|allowed| allowed == name),
            "<{name}> in {html}"
        );
        let attributes = tag.split('>').next().unwrap_or_default();
        assert!(
            !attributes.contains(" on") && !attributes.contains("style="),
            "{attributes} in {html}"
        );
        if let Some((_, address)) = attributes.split_once("href=\"") {
            let schemes = ["http://", "https://", "mailto:"];
            assert!(
                schemes.iter().any(|scheme| address.starts_with(scheme)),
                "{address} in {html}"
            );
        }
    }
    assert_eq!(
        html,
        countersign_protocol::escape::escape_lines(&html),
        "nothing is hidden"
    );
}

/// The HTML without the constant attributes of links.
fn short(text: &str) -> String {
    html(text).replace(
        r#" rel="noopener noreferrer nofollow ugc" target="_blank" class="out" referrerpolicy="no-referrer""#,
        "",
    )
}

#[test]
fn common_markdown_is_rendered() {
    let text = "# Plan\n\nShip **now** or *later*, ~~never~~ `x < 1`.\n\n1. one\n2. two\n   - a\n\n> quoted\n\n---\n\n    let a;\n";
    let expected = "<h2>Plan</h2>\n<p>Ship <strong>now</strong> or <em>later</em>, <del>never</del> <code>x &lt; 1</code>.</p>\n\
                    <ol start=\"1\">\n<li>one</li>\n<li>two<ul>\n<li>a</li>\n</ul>\n</li>\n</ol>\n\
                    <blockquote>\n<p>quoted</p>\n</blockquote>\n<hr>\n<pre><code>let a;\n</code></pre>\n";
    assert_eq!(html(text), expected);
}

#[test]
fn headings_stay_below_those_of_the_page() {
    let text = "# a\n## b\n### c\n#### d\n##### e\n###### f";
    assert_eq!(
        html(text),
        "<h2>a</h2>\n<h3>b</h3>\n<h4>c</h4>\n<h5>d</h5>\n<h6>e</h6>\n<h6>f</h6>\n"
    );
    assert_eq!(
        html("### a\n##### b\n#### c\n### d"),
        "<h2>a</h2>\n<h3>b</h3>\n<h3>c</h3>\n<h2>d</h2>\n",
        "the largest heading is the second level, and none is skipped"
    );
}

#[test]
fn html_in_table_cells_is_text() {
    let expected = "<div class=\"table\"><table><thead><tr><th>a</th><th class=\"right\">b</th></tr></thead><tbody>\n\
                    <tr><td>&lt;img src=x onerror=y&gt;</td><td class=\"right\">1</td></tr>\n</tbody></table></div>\n";
    assert_eq!(html("|a|b|\n|-|-:|\n|<img src=x onerror=y>|1|"), expected);
}

#[test]
fn raw_html_is_shown_as_text() {
    assert_eq!(
        html("a <b onclick=x>bold</b>"),
        "<p>a &lt;b onclick=x&gt;bold&lt;/b&gt;</p>\n"
    );
    assert_eq!(
        html("<script>\nalert(1)\n</script>"),
        "<pre class=\"raw\">&lt;script&gt;\nalert(1)\n&lt;/script&gt;</pre>\n"
    );
    assert_eq!(html("<!-- psst -->"), "<pre class=\"raw\">&lt;!-- psst --&gt;</pre>\n");
    assert_eq!(html("[ ] not a box"), "<p>[ ] not a box</p>\n");
}

#[test]
fn image_becomes_a_link_labelled_as_image() {
    let expected = r#"<p><a href="https://a.example/p.png">image: a cat</a> <span class="url">(https://a.example/p.png)</span></p>"#;
    assert_eq!(
        short("![a *cat*](https://a.example/p.png \"hover\")").trim_end(),
        expected
    );
    let in_link = short("[![x](https://pixel.example/1)](https://a.example)");
    assert!(
        !in_link.contains("<img") && in_link.matches("<a ").count() == 1,
        "{in_link}"
    );
    assert!(in_link.contains("image: x (https://pixel.example/1)</a> <span class=\"url\">(https://a.example/)</span>"));
    let nested = short("![a ![b](https://b.example) c](https://a.example)");
    assert!(
        nested.contains(r#"<a href="https://a.example/">image: a b c</a>"#),
        "{nested}"
    );
    assert_eq!(
        short("![x](data:image/png;base64,AAAA)"),
        "<p>image: x <span class=\"url\">(data:image/png;base64,AAAA)</span></p>\n"
    );
}

#[test]
fn every_link_syntax_shows_its_target() {
    let leads = r#"<span class="url">(https://evil.example/)</span>"#;
    for text in [
        "[https://bank.example](https://evil.example)",
        "[bank][1]\n\n[1]: https://evil.example",
        "[bank][]\n\n[bank]: https://evil.example 'title'",
        "[bank]\n\n[bank]: <https://evil.example>",
        "[**bank** `x`](https://evil.example)",
        "[x](https://evil.example \"title\\\" onmouseover=alert(1) x=\\\"\")",
        "[ba\\\nnk](https://EVIL.example)",
    ] {
        assert!(html(text).contains(leads), "{text}: {}", html(text));
        assert_harmless(text);
    }
    assert_eq!(
        short("<https://a.example/b>"),
        "<p><a href=\"https://a.example/b\">https://a.example/b</a></p>\n"
    );
    assert_eq!(
        short("<me@a.example>"),
        "<p><a href=\"mailto:me@a.example\">me@a.example</a></p>\n"
    );
    assert_eq!(
        short("[](https://a.example)"),
        "<p><a href=\"https://a.example/\">https://a.example/</a></p>\n"
    );
}

#[test]
fn hosts_with_look_alike_letters_are_shown_in_ascii() {
    for text in [
        "<https://аpple.example>",
        "[https://apple.example](https://аpple.example)",
    ] {
        assert!(html(text).contains("(https://xn--pple-43d.example/)"), "{}", html(text));
    }
}

#[test]
fn script_urls_and_deceptive_addresses_are_text() {
    for address in [
        "javascript:alert(1)",
        "JAVASCRIPT:alert(1)",
        "&#106;avascript:alert(1)",
        "&#x6A;ava&Tab;script&colon;alert(1)",
        "javascript&colon;alert(1)",
        "<java\tscript:alert(1)>",
        "java%0ascript:alert(1)",
        "data:text/html;base64,PHNjcmlwdD4=",
        "vbscript:msgbox",
        "//evil.example",
        "/inbox/items/1/decide",
        "?x",
        "#x",
        "https://bank.example@evil.example",
        "file:///etc/passwd",
        "blob:x",
        "\u{1}javascript:alert(1)",
    ] {
        for text in [
            format!("[x]({address})"),
            format!("![x]({address})"),
            format!("[x]\n\n[x]: {address}"),
        ] {
            assert!(!html(&text).contains("href"), "{text}: {}", html(&text));
            assert_harmless(&text);
        }
    }
    assert!(!html("<javascript:alert(1)>").contains("href"));
}

#[test]
fn hidden_characters_are_shown_in_every_position() {
    for text in [
        "pay \u{202e}001",
        "&#x202e; and &ZeroWidthSpace;",
        "`co\u{200b}de`",
        "```\nco\u{202e}de\n```",
        "```diff\n+a\u{2066}b\n```",
        "[te\u{200d}xt](https://a.example/\u{202e}x)",
        "[x](weird:\u{202e}x)",
        "![al\u{feff}t](https://a.example)",
        "|a\u{e0041}|\n|-|\n|\u{200f}|",
        "# he\u{2069}ad",
        "<b \u{202e}>",
        "<div>\n\u{202e}\n</div>",
    ] {
        assert_harmless(text);
        let shown = html(text);
        assert!(
            shown.contains("\\u{") || shown.contains("%E2%80%AE"),
            "{text:?}: {shown}"
        );
    }
}

#[test]
fn fenced_code_has_colours_and_a_fenced_diff_is_one() {
    let expected = "<div class=\"diff\"><div class=\"lines\"><div class=\"del\"><code>a &lt;b&gt;\n</code></div>\
                    <div class=\"add\"><code>c\n</code></div></div></div>";
    assert_eq!(html("```diff title\n-a <b>\n+c\n```"), expected);
    let whole = "```diff\n--- a/x.rs\n+++ b/x.rs\n@@ -1 +1 @@\n-let a = 1;\n+let a = 2;\n```";
    assert_eq!(
        html(whole).replace(" open=\"\"", " open"),
        crate::text::diff(whole.trim_matches('`').trim_start_matches("diff\n")).to_string(),
        "the sanitizer removes nothing"
    );
    assert_eq!(
        html("```rust,ignore\nfn a() {} // <b>\n```"),
        "<pre><code><span class=\"k\">fn</span> a() {} <span class=\"c\">// &lt;b&gt;</span>\n</code></pre>\n"
    );
    assert_eq!(html("```\nfn a\n```"), "<pre><code>fn a\n</code></pre>\n");
}

#[test]
fn task_lists_have_boxes_that_cannot_be_ticked() {
    let expected = "<ul>\n<li><input type=\"checkbox\" disabled=\"\" checked=\"\" aria-label=\"done\"> a</li>\n\
                    <li><input type=\"checkbox\" disabled=\"\" aria-label=\"not done\"> b</li>\n</ul>\n";
    assert_eq!(html("- [x] a\n- [ ] b"), expected);
}

#[test]
fn an_image_has_a_button_where_the_page_can_show_it() {
    let text = "![a *cat*](https://a.example/p.png) ![](data:image/png;base64,AAAA)";
    let shown = markdown_with_images(text).to_string();
    assert_eq!(
        shown
            .matches("<button type=\"submit\" form=\"images\" name=\"image\" value=")
            .count(),
        2,
        "{shown}"
    );
    assert!(shown.contains(">Show image: a cat</button>"), "{shown}");
    assert_eq!(
        image_addresses(text),
        ["https://a.example/p.png", "data:image/png;base64,AAAA"]
    );
    for address in image_addresses(text) {
        assert!(
            shown.contains(&format!("value=\"{}\"", crate::text::image_key(&address))),
            "{shown}"
        );
    }
    for other in [
        "![x](javascript:alert(1))",
        "![x](mailto:a@b.example)",
        "![x](/inbox)",
        "[![x](https://a.example)](https://b.example)",
    ] {
        assert!(!markdown_with_images(other).as_str().contains("<button"), "{other}");
    }
    assert!(!html(text).contains("<button"));
}

#[test]
fn known_sanitizer_bypasses_are_shown_as_text() {
    for text in [
        "<img src=x onerror=alert(1)>",
        "<svg/onload=alert(1)>",
        "<a href=\"javascript:alert(1)\">x</a>",
        "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
        "<noscript><p title=\"</noscript><img src=x onerror=alert(1)>\">",
        "<iframe srcdoc='<script>alert(1)</script>'>",
        "<form action=/inbox/items/1/decide><input name=value>",
        "<base href=//evil.example>",
        "<meta http-equiv=refresh content='0;url=//evil.example'>",
        "`</code><script>alert(1)</script>`",
        "```\n</code></pre><script>alert(1)</script>\n```",
        "```\"><script>alert(1)</script>\nx\n```",
        "[<img src=x onerror=alert(1)>](https://a.example)",
        "[x](https://a.example/\"onmouseover=alert(1)//)",
        "[x](<https://a.example/ onmouseover=alert(1) \">)",
        "![\" onerror=\"alert(1)](https://a.example)",
        "<https://a.example/\"onmouseover=\"alert(1)>",
        "> > <script>\n> > alert(1)",
        "- <style>*{display:none}</style>",
        "|<script>|\n|-|\n|</td><script>alert(1)</script>|",
        "&lt;script&gt;alert(1)&lt;/script&gt; &#60;img src=x&#62;",
        "<details open ontoggle=alert(1)>",
        "\0<script\0>alert(1)</script>",
        "99999999999999999999. x",
    ] {
        assert_harmless(text);
    }
}

/// A text of 64 KiB that repeats `piece`.
fn flood(piece: &str) -> String {
    piece.repeat(MAX_BYTES / piece.len())
}

/// The shortest of three renderings: other work on the machine only makes some of them longer.
fn render_time(text: &str) -> Duration {
    let times = (0..3).map(|_| {
        let began = Instant::now();
        markdown(text);
        began.elapsed()
    });
    times.min().unwrap_or_default()
}

/// How much longer than plain words of the same length a text may take: ten times the slowest text below, and far less than
/// work that is quadratic in 64 KiB.
const MAX_RATIO: u32 = 500;

#[test]
fn hostile_texts_do_not_take_quadratic_time() {
    let pieces = [
        ">",
        "> ",
        "- ",
        "1. ",
        "* *\n",
        "- a\n",
        "> a\n",
        "[",
        "]",
        "![",
        "[](",
        "[a](",
        "[a](<",
        "[a][",
        "[a]: b\n",
        "*",
        "**a ",
        "*a_ ",
        "a*b_",
        "`",
        "`a``",
        "```\n",
        "~~~diff\n",
        "<",
        "<!--",
        "<?",
        "<![CDATA[",
        "<a ",
        "<b>",
        "&",
        "a&b\n",
        "\"",
        "\\",
        "|",
        "|a",
        "|a|\n|-|\n",
        "a\n\n",
        "\n",
        "\t",
        "¡",
        "\u{202e}",
        "<https://a.example>",
        "[a](https://a.example)",
    ];
    let cells = format!(
        "{}\n{}\n{}",
        "|a".repeat(1000),
        "|-".repeat(1000),
        "|x\n".repeat(15_000)
    );
    let hanging = format!("{}\n{}", "- ".repeat(MAX_MARKERS - 1), "\n".repeat(60_000));
    let definitions: String = (0..4000).map(|n| format!("[{n}]: /{n}\n")).collect();
    let expanding = format!(
        "[a]: https://a.example/{}\n\n{}",
        "x".repeat(30_000),
        "[a] ".repeat(8000)
    );
    let plain = render_time(&flood("word "));
    for text in pieces
        .iter()
        .map(|piece| flood(piece))
        .chain([cells, hanging, definitions, expanding])
    {
        let took = render_time(&text);
        assert!(
            took < plain * MAX_RATIO,
            "{took:?} for {:?}…, {plain:?} for plain words",
            text.chars().take(20).collect::<String>()
        );
    }
}

#[test]
fn text_with_too_much_markup_is_shown_as_plain_text() {
    for text in [
        ">".repeat(101) + " deep",
        "a".repeat(MAX_BYTES + 1),
        flood("*a* "),
        "*a ".repeat(200) + &"a* ".repeat(200),
    ] {
        let expected = text.replace('>', "&gt;");
        assert_eq!(html(&text), format!("<pre class=\"plain\">{expected}</pre>"));
    }
    let ruled = format!("{}\n\n**bold**", "-".repeat(500));
    assert!(
        html(&ruled).contains("<strong>bold</strong>"),
        "a long rule is no nesting"
    );
}
