//! The address that agents and people reach the hub by.

use url::Url;

use super::ConfigError;

/// As browsers spell it. Pages, links and passkeys stand at the root of a host, so nothing may come after it.
pub fn parse_public_url(text: &str) -> Result<String, ConfigError> {
    let wrong = |message: String| ConfigError::invalid("public_url", message);
    let url = Url::parse(text)
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https"));
    let Some(url) = url else {
        return Err(wrong(format!(
            "{text} is no http(s) address; write it as https://hub.example"
        )));
    };
    let origin = url.origin().ascii_serialization();
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong(format!("leave out the user name and the password: {origin}")));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(wrong(format!("leave out what follows `?` or `#`: {origin}")));
    }
    if url.path() != "/" {
        let message = format!(
            "{text} has a path, and the hub's pages work only at the root of a host; give the hub a host name of its \
             own, as https://hub.example, or a port of its own, as https://example.com:8443"
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
    fn a_host_and_a_port_are_taken_as_browsers_spell_them() {
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
    fn a_path_is_refused_and_the_way_out_named() {
        for text in [
            "https://example.com/hub",
            "https://example.com/hub/",
            "https://example.com//",
        ] {
            let said = refusal(text);
            assert!(said.starts_with("public_url: ") && said.contains(text), "{said}");
            assert!(
                said.contains("a host name of its own") && said.contains("a port of its own"),
                "{said}"
            );
        }
    }

    #[test]
    fn what_does_not_belong_into_an_address_is_refused() {
        for text in [
            "https://hub.example?",
            "https://hub.example/?a=b",
            "https://hub.example/#top",
        ] {
            assert!(refusal(text).contains("leave out what follows"), "{text}");
        }
        let said = refusal("https://ann:secret@hub.example");
        assert!(
            said.contains("user name") && !said.contains("secret"),
            "a password is not repeated: {said}"
        );
        for text in [
            "",
            "hub.example",
            "hub.example:8443",
            "ftp://hub.example",
            "https://",
            "https://hub example",
        ] {
            assert!(refusal(text).contains("is no http(s) address"), "{text}");
        }
    }
}
