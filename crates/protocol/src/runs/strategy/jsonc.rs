use jsonc_parser::errors::ParseError;
use jsonc_parser::tokens::Token;
use jsonc_parser::{Scanner, ScannerOptions};

const STRICT: ScannerOptions = ScannerOptions {
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// Converts to plain JSON: comments and trailing commas become spaces, so that lines and columns stay. The strict JSON
/// parser then reads it, so both formats refuse the same things.
pub(super) fn without_comments(text: &str) -> Result<String, String> {
    let mut bytes = text.as_bytes().to_vec();
    let mut scanner = Scanner::new(text, &STRICT);
    let mut follows_value = false;
    let mut trailing = None;
    while let Some(token) = scanner.scan().map_err(placed)? {
        match token {
            Token::CommentLine(_) | Token::CommentBlock(_) => {
                blank(&mut bytes[scanner.token_start()..scanner.token_end()]);
                continue;
            }
            Token::CloseBrace | Token::CloseBracket => {
                if let Some(at) = trailing.take() {
                    bytes[at] = b' ';
                }
            }
            Token::Comma => trailing = follows_value.then_some(scanner.token_start()),
            Token::OpenBrace
            | Token::OpenBracket
            | Token::Colon
            | Token::String(_)
            | Token::Word(_)
            | Token::Boolean(_)
            | Token::Number(_)
            | Token::Null => trailing = None,
        }
        follows_value = !matches!(
            token,
            Token::OpenBrace | Token::OpenBracket | Token::Colon | Token::Comma
        );
    }
    String::from_utf8(bytes).map_err(|error| error.to_string())
}

fn blank(bytes: &mut [u8]) {
    for byte in bytes.iter_mut().filter(|byte| !matches!(byte, b'\n' | b'\r')) {
        *byte = b' ';
    }
}

fn placed(error: ParseError) -> String {
    format!(
        "line {} column {}: {}",
        error.line_display(),
        error.column_display(),
        error.kind()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_trailing_commas_become_blanks() {
        for (text, plain) in [
            ("{ // é\n\"a\":1, /* x\r\n */ }", "{      \n\"a\":1      \r\n    }"),
            ("[1,2 , ]", "[1,2   ]"),
            ("[[1,],]", "[[1 ] ]"),
            ("{\"a\":{\"b\":1,},}", "{\"a\":{\"b\":1 } }"),
            ("\"// not /* one */\"", "\"// not /* one */\""),
            ("\"a\\\"//,]\"", "\"a\\\"//,]\""),
            ("", ""),
            ("//", "  "),
        ] {
            assert_eq!(without_comments(text).unwrap(), plain, "{text}");
        }
    }

    #[test]
    fn a_comma_is_trailing_only_after_a_value() {
        for text in ["[,]", "{,}", "[1,,]", "[1,,2]", "{\"a\":,}", ",", "[1],"] {
            let plain = without_comments(text).unwrap();
            assert!(crate::json::parse(plain.as_bytes()).is_err(), "{text}");
        }
    }

    #[test]
    fn other_syntax_extensions_are_refused() {
        for text in [
            "[1 /* no end",
            "{'a':1}",
            "[0x10]",
            "[+1]",
            "[.5]",
            "[/]",
            "[NaN]",
            "{a:1}",
            "[\"\\x41\"]",
            "# a\n{}",
        ] {
            let read = without_comments(text)
                .and_then(|plain| crate::json::parse(plain.as_bytes()).map_err(|error| error.to_string()));
            assert!(read.is_err(), "{text}");
        }
        assert!(
            without_comments("{\n  'a': 1}")
                .unwrap_err()
                .starts_with("line 2 column 3: ")
        );
    }
}
