//! The text that a started hub prints: where it is, how to sign in, what to try.

use std::io::{IsTerminal, stdout};

use countersign_hub::serve::Greeting;
use qrcode::{Color, EcLevel, QrCode};
use reqwest::Url;

use crate::args::Globals;

/// Modules of light around a code; scanners need some.
const MARGIN: usize = 2;
/// Black on white, because scanners expect dark modules on a light ground.
const BLACK_ON_WHITE: &str = "\u{1b}[38;5;16;48;5;231m";
const RESET: &str = "\u{1b}[0m";

pub struct GreetingStyle {
    /// The `--data` option that commands in another terminal need.
    data_flag: String,
    is_terminal: bool,
    colours: bool,
}

impl GreetingStyle {
    pub fn of(globals: &Globals) -> Self {
        let data = globals.data.as_ref().map(|data| format!(" --data {}", data.display()));
        Self {
            data_flag: data.unwrap_or_default(),
            is_terminal: stdout().is_terminal(),
            colours: globals.color.allows(),
        }
    }
}

pub fn text(greeting: &Greeting, style: &GreetingStyle) -> String {
    let Greeting {
        local_url, sign_in_url, ..
    } = greeting;
    let mut text = format!("Countersign is listening on {local_url}\n\nSign in (works once):\n  {sign_in_url}\n");
    if style.is_terminal
        && is_reachable(sign_in_url)
        && let Some(code) = qr_code(sign_in_url, style.colours)
    {
        text.push_str(&format!("\nOr scan it with a phone:\n\n{code}"));
    }
    if let Some(fingerprint) = &greeting.fingerprint {
        text.push_str(&format!(
            "\nThe browser warns about the certificate, because this machine made it. Continue only if its SHA-256 \
             fingerprint is:\n  {fingerprint}\n"
        ));
    }
    let data = &style.data_flag;
    text.push_str(&format!(
        "\nTry it in a second terminal:\n  countersign ask \"Ship to production?\" --confirm{data}\n\nThen answer in the \
         browser or a terminal:\n  {}/inbox\n  countersign inbox{data}\n\nCtrl-C stops the hub.\n",
        greeting.browser_url
    ));
    text
}

/// Whether another machine can use the address.
fn is_reachable(url: &str) -> bool {
    let url = Url::parse(url).ok();
    let host = url.as_ref().and_then(Url::host_str).unwrap_or("localhost");
    let is_loopback = host
        .trim_matches(['[', ']'])
        .parse::<std::net::IpAddr>()
        .is_ok_and(|ip| ip.is_loopback());
    host != "localhost" && !is_loopback
}

/// Two rows of modules per line, in half blocks.
fn qr_code(text: &str, colours: bool) -> Option<String> {
    let code = QrCode::with_error_correction_level(text, EcLevel::L).ok()?;
    let width = code.width();
    let modules = code.to_colors();
    let is_dark = |row: usize, column: usize| {
        let inside = |at: usize| at.checked_sub(MARGIN).filter(|at| *at < width);
        let module = inside(row)
            .zip(inside(column))
            .map(|(row, column)| modules[row * width + column]);
        module == Some(Color::Dark)
    };
    let size = width + 2 * MARGIN;
    let mut drawn = String::new();
    for row in (0..size).step_by(2) {
        let line: String = (0..size)
            .map(|column| match (is_dark(row, column), is_dark(row + 1, column)) {
                // With colours the characters are dark on light; without, they are the light part on a dark terminal.
                (true, true) if colours => '█',
                (true, false) if colours => '▀',
                (false, true) if colours => '▄',
                (false, false) if colours => ' ',
                (false, false) => '█',
                (false, true) => '▀',
                (true, false) => '▄',
                (true, true) => ' ',
            })
            .collect();
        let line = if colours {
            format!("{BLACK_ON_WHITE}{line}{RESET}")
        } else {
            line
        };
        drawn.push_str(&format!("  {line}\n"));
    }
    Some(drawn)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(url: &str, is_terminal: bool) -> String {
        let greeting = Greeting {
            local_url: "http://127.0.0.1:7422".to_owned(),
            browser_url: url.to_owned(),
            sign_in_url: format!("{url}/signin/css_1"),
            fingerprint: Some("AB:CD".to_owned()),
        };
        let style = GreetingStyle {
            data_flag: " --data d".to_owned(),
            is_terminal,
            colours: false,
        };
        text(&greeting, &style)
    }

    #[test]
    fn a_code_is_shown_only_if_a_phone_can_use_it() {
        assert!(shown("https://192.168.1.5:7422", true).contains('█'));
        assert!(!shown("https://192.168.1.5:7422", false).contains('█'), "not in a file");
        for local in ["http://localhost:7422", "http://127.0.0.1:7422", "http://[::1]:7422"] {
            assert!(!shown(local, true).contains('█'), "{local}");
        }
    }

    #[test]
    fn the_greeting_says_where_how_and_what_to_try() {
        let text = shown("https://192.168.1.5:7422", false);
        for part in [
            "listening on http://127.0.0.1:7422\n",
            "\n  https://192.168.1.5:7422/signin/css_1\n",
            "\n  countersign ask \"Ship to production?\" --confirm --data d\n",
            "\n  AB:CD\n",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn a_code_has_its_margin_and_every_line_is_as_wide() {
        let code = qr_code("https://192.168.1.5:7422/signin/css_1", false).unwrap();
        let widths: Vec<usize> = code.lines().map(|line| line.chars().count()).collect();
        assert!(widths.iter().all(|width| *width == widths[0]), "{code}");
        assert!(
            code.lines().next().unwrap().trim().chars().all(|letter| letter == '█'),
            "{code}"
        );
        let coloured = qr_code("https://192.168.1.5:7422/signin/css_1", true).unwrap();
        assert!(coloured.contains(BLACK_ON_WHITE) && coloured.ends_with("\u{1b}[0m\n"));
    }
}
