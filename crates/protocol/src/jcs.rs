//! The JSON Canonicalization Scheme (RFC 8785), so that both sides of a signature see the same bytes.

use serde_json::{Map, Value};

type Entry<'a> = (&'a String, &'a Value);

pub fn canonical(value: &Value) -> String {
    let mut out = Vec::with_capacity(256);
    write(value, &mut out);
    // Always valid UTF-8, so the lossy fallback never replaces a character.
    String::from_utf8(out).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

pub fn write(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.extend_from_slice(b"null"),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::Number(number) => write_number(number, out),
        Value::String(text) => write_string(text, out),
        Value::Array(items) => write_array(items, out),
        Value::Object(entries) => write_object(entries, out, |_, value, out| write(value, out)),
    }
}

fn write_array(items: &[Value], out: &mut Vec<u8>) {
    out.push(b'[');
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write(item, out);
    }
    out.push(b']');
}

/// Writes an object with `value` as the writer of its values, so that a caller can omit parts of a document without
/// copying the rest.
pub(crate) fn write_object(
    entries: &Map<String, Value>,
    out: &mut Vec<u8>,
    value: impl Fn(&str, &Value, &mut Vec<u8>),
) {
    write_entries(entries.iter(), out, value);
}

pub(crate) fn write_entries<'a>(
    entries: impl Iterator<Item = Entry<'a>> + Clone,
    out: &mut Vec<u8>,
    value: impl Fn(&str, &Value, &mut Vec<u8>),
) {
    if is_in_order(entries.clone()) {
        return write_in_order(entries, out, value);
    }
    let mut sorted: Vec<Entry<'a>> = entries.collect();
    sorted.sort_unstable_by(|(left, _), (right, _)| left.encode_utf16().cmp(right.encode_utf16()));
    write_in_order(sorted.into_iter(), out, value);
}

/// Byte order equals UTF-16 order unless a character needs four bytes: only those are surrogate pairs, which sort below
/// U+E000. The byte order is checked too, because another crate in the build may enable serde_json's `preserve_order`.
fn is_in_order<'a>(entries: impl Iterator<Item = Entry<'a>>) -> bool {
    entries
        .map(|(key, _)| key.as_str())
        .is_sorted_by(|left, right| left <= right && !has_surrogates(left) && !has_surrogates(right))
}

fn has_surrogates(text: &str) -> bool {
    text.bytes().any(|byte| byte >= 0xF0)
}

fn write_in_order<'a>(
    entries: impl Iterator<Item = Entry<'a>>,
    out: &mut Vec<u8>,
    value: impl Fn(&str, &Value, &mut Vec<u8>),
) {
    out.push(b'{');
    for (index, (key, member)) in entries.enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write_string(key, out);
        out.push(b':');
        value(key, member, out);
    }
    out.push(b'}');
}

/// Every number, integers included, is written as a double in the spelling of ECMAScript.
fn write_number(number: &serde_json::Number, out: &mut Vec<u8>) {
    // Without serde_json's `arbitrary_precision` every number is a finite double.
    let double = number.as_f64().unwrap_or(0.0);
    out.extend_from_slice(ryu_js::Buffer::new().format(double).as_bytes());
}

/// Copies the text between two escapes in one piece.
fn write_string(text: &str, out: &mut Vec<u8>) {
    let bytes = text.as_bytes();
    let mut copied = 0;
    out.push(b'"');
    for (at, byte) in bytes.iter().enumerate() {
        if !ESCAPED[usize::from(*byte)] {
            continue;
        }
        out.extend_from_slice(&bytes[copied..at]);
        write_escape(*byte, out);
        copied = at + 1;
    }
    out.extend_from_slice(&bytes[copied..]);
    out.push(b'"');
}

const ESCAPED: [bool; 256] = {
    let mut table = [false; 256];
    let mut control = 0;
    while control < 0x20 {
        table[control] = true;
        control += 1;
    }
    table[b'"' as usize] = true;
    table[b'\\' as usize] = true;
    table
};

fn write_escape(byte: u8, out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let short = match byte {
        b'"' | b'\\' => byte,
        0x08 => b'b',
        b'\t' => b't',
        b'\n' => b'n',
        0x0C => b'f',
        b'\r' => b'r',
        other => {
            out.extend_from_slice(b"\\u00");
            out.extend_from_slice(&[DIGITS[usize::from(other >> 4)], DIGITS[usize::from(other & 15)]]);
            return;
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn respelled(text: &str) -> String {
        canonical(&crate::json::parse(text.as_bytes()).unwrap())
    }

    #[test]
    fn numbers_are_spelled_as_ecmascript_does() {
        let given = "[0,-0,1.0,1e21,1e20,123456789012345680000,1e-6,1e-7,0.1,9007199254740993,333333333.33333329,4.50,\
                     2e-3,1E30,5e-324,1.7976931348623157e308]";
        let wanted = "[0,0,1,1e+21,100000000000000000000,123456789012345680000,0.000001,1e-7,0.1,9007199254740992,\
                      333333333.3333333,4.5,0.002,1e+30,5e-324,1.7976931348623157e+308]";
        assert_eq!(respelled(given), wanted);
        assert_eq!(
            respelled("[18446744073709551615,-9223372036854775808]"),
            "[18446744073709552000,-9223372036854776000]"
        );
    }

    #[test]
    fn keys_are_ordered_by_their_utf16_code_units() {
        assert_eq!(respelled("{\"\u{fb33}\":2,\"😀\":1}"), "{\"😀\":1,\"\u{fb33}\":2}");
        assert_eq!(
            respelled("{\"é\":1,\"b\":2,\"\":3,\"B\":4}"),
            "{\"\":3,\"B\":4,\"b\":2,\"é\":1}"
        );
        // A single key is always sorted.
        assert_eq!(respelled("{\"😀\":{\"b\":1,\"a\":2}}"), "{\"😀\":{\"a\":2,\"b\":1}}");
    }

    #[test]
    fn only_required_escapes_are_written() {
        let text = "\"\\\u{8}\t\n\u{c}\r\u{1}\u{1f}/\u{7f}\u{2028}é😀";
        let wanted = "\"\\\"\\\\\\b\\t\\n\\f\\r\\u0001\\u001f/\u{7f}\u{2028}é😀\"";
        assert_eq!(canonical(&Value::String(text.to_owned())), wanted);
    }

    #[test]
    fn empty_things_stay_empty() {
        assert_eq!(
            respelled(" { \"a\" : [ ] , \"b\" : { } , \"c\" : \"\" , \"d\" : null } "),
            r#"{"a":[],"b":{},"c":"","d":null}"#
        );
    }
}
