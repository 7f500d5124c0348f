//! Compares printed text with the text of a page, in which ids, numbers and times are only examples.

const ID_PREFIXES: [&str; 8] = ["msg_", "res_", "css_", "csa_", "csp_", "cst_", "whsec_", "idem_"];

/// Whether `printed` is what the page shows. A line `…` in the page stands for any lines, ` …` for the
/// rest of a line. Blank lines do not count.
pub fn is_same(printed: &str, shown: &str) -> bool {
    fits(&lines(printed), &lines(shown), false)
}

/// Whether `printed` begins with what the page shows.
pub fn begins_same(printed: &str, shown: &str) -> bool {
    fits(&lines(printed), &lines(shown), true)
}

fn fits(printed: &[String], shown: &[String], may_go_on: bool) -> bool {
    match (printed, shown) {
        (rest, []) => may_go_on || rest.is_empty(),
        (_, [any, shown @ ..]) if any == "…" => {
            (0..=printed.len()).any(|skipped| fits(&printed[skipped..], shown, may_go_on))
        }
        ([first, printed @ ..], [wanted, shown @ ..]) => is_same_line(first, wanted) && fits(printed, shown, may_go_on),
        ([], _) => false,
    }
}

fn is_same_line(printed: &str, shown: &str) -> bool {
    match shown.strip_suffix(" …") {
        Some(start) => printed.starts_with(start),
        None => printed == shown,
    }
}

fn lines(text: &str) -> Vec<String> {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.map(normalized).collect()
}

/// The line with `#` for numbers, the prefix alone for ids, and single spaces.
fn normalized(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let line = words.join(" ");
    if line == "…" {
        return line;
    }
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let mut out = String::new();
    let mut rest = line.as_str();
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let (token, tail) = rest.split_at(end.max(first.len_utf8()));
        match token {
            "…" if !out.ends_with(' ') => {}
            _ if end == 0 => out.push_str(token),
            _ => out.push_str(&normalized_token(token)),
        }
        // Keys are base64, with more characters than ids.
        rest = match token.starts_with("whsec_") {
            true => tail.trim_start_matches(|c: char| is_part(c) || "+/=".contains(c)),
            false => tail,
        };
    }
    out
}

fn normalized_token(token: &str) -> String {
    if let Some(prefix) = ID_PREFIXES.iter().find(|prefix| token.starts_with(**prefix)) {
        return (*prefix).to_owned();
    }
    if token.len() >= 32 && token.chars().all(|c| c.is_ascii_hexdigit() || c == '-') {
        return "HEX".to_owned();
    }
    let mut out = String::new();
    for c in token.chars() {
        match c.is_ascii_digit() {
            true if out.ends_with('#') => {}
            true => out.push('#'),
            false => out.push(c),
        }
    }
    out
}

#[test]
fn ids_numbers_and_times_are_patterns_and_words_are_not() {
    let shown = "msg_01m7pzj answered at 2026-11-18T09:25:49.639Z\n…\nlisten on http://127.0.0.1:7422/signin/css_hL-5…";
    let printed =
        "msg_01ffffff   answered at 2027-01-02T11:00:00.001Z\nx\ny\nlisten on http://127.0.0.1:40111/signin/css_A-_b";
    assert!(is_same(printed, shown));
    assert!(!is_same(&printed.replace("answered", "declined"), shown));
    assert!(!is_same(&format!("{printed}\nmore"), shown) && begins_same(&format!("{printed}\nmore"), shown));
}
