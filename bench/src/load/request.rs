use std::fmt::Write as _;

/// The variable part of a request: a message id or an idempotency key, always 30 bytes long.
pub type Slot = [u8; 30];

/// The placeholder for the slot in a template.
pub const PLACEHOLDER: &str = "##############################";

/// A request that is rendered once, with at most one slot to fill before each send.
#[derive(Clone)]
pub struct Template {
    bytes: Vec<u8>,
    slot: Option<usize>,
}

impl Template {
    pub fn new(bytes: Vec<u8>) -> Self {
        let slot = bytes
            .windows(PLACEHOLDER.len())
            .position(|window| window == PLACEHOLDER.as_bytes());
        Self { bytes, slot }
    }

    pub fn fill(&mut self, slot: &Slot) -> &[u8] {
        if let Some(start) = self.slot {
            self.bytes[start..start + slot.len()].copy_from_slice(slot);
        }
        &self.bytes
    }
}

/// An HTTP/1.1 request as bytes.
pub fn render(method: &str, path: &str, token: Option<&str>, body: Option<&str>) -> Vec<u8> {
    let mut text = format!("{method} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n");
    if let Some(token) = token {
        let _ = write!(text, "authorization: Bearer {token}\r\n");
    }
    if let Some(body) = body {
        let _ = write!(
            text,
            "content-type: application/json\r\ncontent-length: {}\r\n",
            body.len()
        );
    }
    text.push_str("\r\n");
    text.push_str(body.unwrap_or_default());
    text.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slot_is_filled_in_place() {
        let path = format!("/v1/messages/{PLACEHOLDER}/resolve");
        let mut template = Template::new(render("POST", &path, Some("secret"), Some("{}")));
        let request = String::from_utf8(template.fill(b"msg_01234567890123456789012345").to_vec()).expect("text");
        assert_eq!(
            request,
            "POST /v1/messages/msg_01234567890123456789012345/resolve HTTP/1.1\r\nhost: 127.0.0.1\r\n\
             authorization: Bearer secret\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}"
        );
    }

    #[test]
    fn a_template_without_a_slot_stays_as_it_is() {
        let mut template = Template::new(render("GET", "/health", None, None));
        assert_eq!(
            template.fill(&[b'x'; 30]),
            b"GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n"
        );
    }
}
