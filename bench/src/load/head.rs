use anyhow::{Context, Result};

/// The head of an HTTP/1.1 request or reply.
pub struct Head<'a> {
    text: &'a str,
    /// The length of the head in bytes, with the empty line at its end.
    pub length: usize,
}

impl<'a> Head<'a> {
    /// Returns `None` until the head is complete.
    pub fn find(bytes: &'a [u8]) -> Result<Option<Self>> {
        const END: &[u8] = b"\r\n\r\n";
        let Some(end) = bytes.windows(END.len()).position(|window| window == END) else {
            return Ok(None);
        };
        let text = std::str::from_utf8(&bytes[..end]).context("the head is not text")?;
        Ok(Some(Self {
            text,
            length: end + END.len(),
        }))
    }

    pub fn first_line(&self) -> &'a str {
        self.text.split("\r\n").next().unwrap_or_default()
    }

    pub fn field(&self, wanted: &str) -> Option<&'a str> {
        let fields = self.text.split("\r\n").skip(1).filter_map(|line| line.split_once(':'));
        fields
            .into_iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(wanted))
            .map(|(_, value)| value.trim())
    }

    pub fn content_length(&self) -> Result<Option<usize>> {
        let length = self.field("content-length").map(str::parse);
        length.transpose().context("the content-length is not a number")
    }
}
