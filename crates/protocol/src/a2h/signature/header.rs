//! The signature header: `t=1749050910,jti=jti_…,v1=…`, with one `v1` per key during a rotation.

use base64::Engine;
use base64::alphabet;
use base64::engine::general_purpose::{GeneralPurpose, NO_PAD};

use super::SignatureError;

pub(super) const MAX_BYTES: usize = 4096;

/// HMAC-SHA256 signatures have 32 bytes, Ed25519 signatures 64.
const MIN_SIGNATURE_BYTES: usize = 32;

/// Trailing bits in the last character are ignored, as the protocol requires.
const LENIENT: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, NO_PAD.with_decode_allow_trailing_bits(true));

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignatureHeader {
    /// Seconds since the Unix epoch.
    pub t: i64,
    pub jti: String,
    /// At least one signature; one match is enough.
    pub v1: Vec<String>,
    pub kid: Option<String>,
}

impl SignatureHeader {
    /// Parses the header value, or the whole line with its name. Unknown names are ignored.
    pub fn parse(text: &str) -> Result<Self, SignatureError> {
        if text.len() > MAX_BYTES {
            return Err(SignatureError::TooLong);
        }
        let mut t = None;
        let mut jti = None;
        let mut kid = None;
        let mut v1 = Vec::new();
        for pair in without_name(text).split(',') {
            let (name, value) = pair.trim().split_once('=').ok_or(SignatureError::NotAPair)?;
            match name {
                "t" => set_once(&mut t, "t", seconds(value)?)?,
                "jti" => set_once(&mut jti, "jti", word(value, "jti")?)?,
                "kid" => set_once(&mut kid, "kid", word(value, "kid")?)?,
                "v1" => {
                    decode(value).ok_or(SignatureError::Malformed("v1"))?;
                    v1.push(value.to_owned());
                }
                _ => {}
            }
        }
        if v1.is_empty() {
            return Err(SignatureError::Missing("v1"));
        }
        let t = t.ok_or(SignatureError::Missing("t"))?;
        let jti = jti.ok_or(SignatureError::Missing("jti"))?;
        Ok(Self { t, jti, v1, kid })
    }

    /// The value of the header, without its name.
    pub fn to_header(&self) -> String {
        let mut text = format!("t={},jti={}", self.t, self.jti);
        for v1 in &self.v1 {
            text.extend([",v1=", v1]);
        }
        if let Some(kid) = &self.kid {
            text.extend([",kid=", kid]);
        }
        text
    }

    pub(super) fn signatures(&self) -> Vec<Vec<u8>> {
        self.v1.iter().filter_map(|text| decode(text)).collect()
    }
}

/// A colon before the first equals sign ends the header's name.
fn without_name(text: &str) -> &str {
    match text.find([':', '=']) {
        Some(at) if text.as_bytes()[at] == b':' => &text[at + 1..],
        Some(_) | None => text,
    }
}

fn set_once<T>(slot: &mut Option<T>, name: &'static str, value: T) -> Result<(), SignatureError> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(SignatureError::Repeated(name)),
    }
}

/// The digits are signed as text, so only the canonical spelling is accepted.
fn seconds(text: &str) -> Result<i64, SignatureError> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits || (text.len() > 1 && text.starts_with('0')) {
        return Err(SignatureError::Malformed("t"));
    }
    text.parse().map_err(|_| SignatureError::Malformed("t"))
}

fn word(text: &str, name: &'static str) -> Result<String, SignatureError> {
    let printable = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
    if printable {
        Ok(text.to_owned())
    } else {
        Err(SignatureError::Malformed(name))
    }
}

/// Base64url with full padding or none, at least as long as a signature.
fn decode(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=');
    let padding = text.len() - digits.len();
    let full_padding = (4 - digits.len() % 4) % 4;
    if padding != 0 && padding != full_padding {
        return None;
    }
    let bytes = LENIENT.decode(digits).ok()?;
    (bytes.len() >= MIN_SIGNATURE_BYTES).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const V1: &str = "In3evtBNZywRzuNYkphbw-_764_Wu98zWM5rZ1iN4VI";

    fn header(text: &str) -> Result<SignatureHeader, SignatureError> {
        SignatureHeader::parse(&text.replace("V1", V1))
    }

    #[test]
    fn a_header_survives_a_round_trip() {
        for text in [
            "t=1749050910,jti=jti_1,v1=V1",
            "t=0,jti=a:b=c,v1=V1,v1=V1",
            "t=5,jti=j,v1=V1,kid=k1",
        ] {
            let read = header(text).unwrap();
            assert_eq!(read.to_header(), text.replace("V1", V1));
        }
    }

    #[test]
    fn the_name_of_the_header_and_unknown_pairs_are_ignored() {
        let plain = header("t=5,jti=j:1,v1=V1").unwrap();
        for text in [
            "A2H-Signature: t=5,jti=j:1,v1=V1",
            "MA2H-Signature:t=5,jti=j:1,v1=V1",
            " t=5, jti=j:1 ,\tv1=V1 ",
            "v2=x,v1=V1,alg=,jti=j:1,t=5",
        ] {
            assert_eq!(header(text).as_ref(), Ok(&plain), "{text}");
        }
    }

    #[test]
    fn a_broken_header_is_refused_with_its_reason() {
        use SignatureError::{Malformed, Missing, NotAPair, Repeated, TooLong};
        let table = [
            ("", NotAPair),
            ("A2H-Signature:", NotAPair),
            ("t=5,jti=j,v1=V1,", NotAPair),
            ("t=5,jti=j", Missing("v1")),
            ("jti=j,v1=V1", Missing("t")),
            ("t=5,v1=V1", Missing("jti")),
            ("t=5,t=5,jti=j,v1=V1", Repeated("t")),
            ("t=5,jti=j,jti=j,v1=V1", Repeated("jti")),
            ("t=5,jti=j,v1=V1,kid=a,kid=a", Repeated("kid")),
            ("t=-5,jti=j,v1=V1", Malformed("t")),
            ("t=+5,jti=j,v1=V1", Malformed("t")),
            ("t=5.0,jti=j,v1=V1", Malformed("t")),
            ("t=,jti=j,v1=V1", Malformed("t")),
            ("t=05,jti=j,v1=V1", Malformed("t")),
            ("t=99999999999999999999,jti=j,v1=V1", Malformed("t")),
            ("t=5,jti=,v1=V1", Malformed("jti")),
            ("t=5,jti=a b,v1=V1", Malformed("jti")),
            ("t=5,jti=j,v1=", Malformed("v1")),
            ("t=5,jti=j,v1=V1,v1=short", Malformed("v1")),
        ];
        for (text, reason) in table {
            assert_eq!(header(text), Err(reason), "{text}");
        }
        assert_eq!(
            header(&format!("t=5,jti=j,v1=V1,x={}", "y".repeat(MAX_BYTES))),
            Err(TooLong)
        );
    }

    #[test]
    fn v1_is_base64url_with_full_padding_or_none() {
        let bytes = decode(V1).unwrap();
        assert_eq!(bytes.len(), 32);
        assert_eq!(decode(&format!("{V1}=")), Some(bytes));
        // Looks like hex, and its last character has trailing bits: still 32 bytes.
        assert_eq!(
            decode("3073dec57c04075d0b6bfa17c300fa9600ad92fb13e").map(|bytes| bytes.len()),
            Some(32)
        );
        assert_eq!(decode(&"A".repeat(86)).map(|bytes| bytes.len()), Some(64));
        let wrong = [
            format!("{V1}=="),
            format!("{V1}A="),
            format!("{V1}AA"),
            V1.replace('-', "!"),
            V1.replace('-', "+"),
            V1.replace('_', "/"),
            format!("={V1}"),
            "A".repeat(42),
            "A".repeat(20),
            format!("{V1} "),
        ];
        for text in wrong {
            assert_eq!(decode(&text), None, "{text}");
        }
    }
}
