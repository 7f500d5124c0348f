//! Page cursors made of two numbers, written as `first.second`.

pub fn parse_pair(text: &str) -> Option<(i64, i64)> {
    let (first, second) = text.split_once('.')?;
    Some((first.parse().ok()?, second.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursor_is_exactly_two_numbers() {
        assert_eq!(parse_pair("2.7"), Some((2, 7)));
        assert_eq!(parse_pair("-1.1780000000000"), Some((-1, 1_780_000_000_000)));
        for nonsense in ["", "2", "2.", ".7", "2.7.1", "2.x", "2,7", "99999999999999999999.1"] {
            assert_eq!(parse_pair(nonsense), None, "{nonsense}");
        }
    }
}
