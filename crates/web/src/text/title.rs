//! Titles: one line, in which only code between backticks has markup.

use super::safe_html::{HtmlBuilder, SafeHtml};

pub fn title(text: &str) -> SafeHtml {
    let mut html = HtmlBuilder::new();
    let mut rest = text;
    while let Some((before, code, after)) = next_code(rest) {
        html.line(before);
        html.markup("<code>");
        html.line(code);
        html.markup("</code>");
        rest = after;
    }
    html.line(rest);
    html.finish()
}

fn next_code(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once('`')?;
    let (code, after) = rest.split_once('`')?;
    (!code.trim().is_empty()).then_some((before, code, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_in_a_title_is_code_and_nothing_else_is_markup() {
        for (text, expected) in [
            ("Run `rm -rf <x>` now?", "Run <code>rm -rf &lt;x&gt;</code> now?"),
            ("`a` and `b`", "<code>a</code> and <code>b</code>"),
            ("one ` only **x**", "one ` only **x**"),
            ("``", "``"),
            ("`a\u{202e}`\n", "<code>a\\u{202e}</code>\\n"),
        ] {
            assert_eq!(title(text).as_str(), expected);
        }
    }
}
