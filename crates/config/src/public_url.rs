//! The public URL of the hub.

use url::Url;

use crate::ConfigError;

/// Returns the origin in the spelling of browsers. Pages, links and passkeys need the root of a host, so a path is
/// refused.
pub fn parse_public_url(text: &str) -> Result<String, ConfigError> {
    let wrong = |message: String| ConfigError::invalid("public_url", message);
    let url = Url::parse(text)
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https"));
    let Some(url) = url else {
        return Err(wrong(format!(
            "{text} is not an http(s) URL; write it as https://hub.example"
        )));
    };
    let origin = url.origin().ascii_serialization();
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong(format!("leave out the user name and the password: {origin}")));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(wrong(format!("leave out everything from `?` or `#` on: {origin}")));
    }
    if url.path() != "/" {
        let message = format!(
            "{text} has a path, and the hub's pages work only at the root of a host; give the hub a host name of its \
             own, such as https://hub.example, or a port of its own, such as https://example.com:8443"
        );
        return Err(wrong(message));
    }
    Ok(origin)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        parse_public_url(text).expect_err(text).to_string()
    }

    #[test]
    fn host_and_port_are_normalised() {
        for (given, taken) in [
            ("https://hub.example", "https://hub.example"),
            ("https://hub.example/", "https://hub.example"),
            ("HTTPS://Hub.Example:443/", "https://hub.example"),
            ("https://hub.example:8443", "https://hub.example:8443"),
            ("http://127.0.0.1:7422", "http://127.0.0.1:7422"),
            ("http://[::1]:7422", "http://[::1]:7422"),
            ("https://bücher.example", "https://xn--bcher-kva.example"),
        ] {
            assert_eq!(parse_public_url(given).unwrap(), taken);
        }
    }

    #[test]
    fn path_is_refused_with_alternatives() {
        for text in [
            "https://example.com/hub",
            "https://example.com/hub/",
            "https://example.com//",
        ] {
            let error_text = refusal(text);
            assert!(
                error_text.starts_with("public_url: ") && error_text.contains(text),
                "{error_text}"
            );
            assert!(
                error_text.contains("a host name of its own") && error_text.contains("a port of its own"),
                "{error_text}"
            );
        }
    }

    #[test]
    fn invalid_public_urls_are_refused() {
        for text in [
            "https://hub.example?",
            "https://hub.example/?a=b",
            "https://hub.example/#top",
        ] {
            assert!(refusal(text).contains("leave out everything"), "{text}");
        }
        let error_text = refusal("https://ann:secret@hub.example");
        assert!(
            error_text.contains("user name") && !error_text.contains("secret"),
            "the error must not show a password: {error_text}"
        );
        for text in [
            "",
            "hub.example",
            "hub.example:8443",
            "ftp://hub.example",
            "https://",
            "https://hub example",
        ] {
            assert!(refusal(text).contains("is not an http(s) URL"), "{text}");
        }
    }
}
