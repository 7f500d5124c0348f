//! The last bytes of a program's stderr.

const MAX_TAIL_BYTES: usize = 4096;

#[derive(Default)]
pub struct Tail {
    bytes: Vec<u8>,
    cut: bool,
}

impl Tail {
    pub fn push(&mut self, more: &[u8]) {
        self.bytes.extend_from_slice(more);
        if self.bytes.len() > MAX_TAIL_BYTES {
            self.bytes.drain(..self.bytes.len() - MAX_TAIL_BYTES);
            self.cut = true;
        }
    }

    /// Returns `None` if the program printed nothing.
    pub fn text(&self) -> Option<String> {
        // Skips a character that was cut in half at the start.
        let cut = if self.cut {
            self.bytes.iter().take_while(|&&byte| byte & 0xC0 == 0x80).count()
        } else {
            0
        };
        let text = String::from_utf8_lossy(&self.bytes[cut..]).replace('\0', "\u{FFFD}");
        let text = text.trim();
        let before = if self.cut { "…" } else { "" };
        (!text.is_empty()).then(|| format!("{before}{text}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_kept_and_no_character_is_cut_in_half() {
        let mut tail = Tail::default();
        assert_eq!(tail.text(), None);
        tail.push(b"  oops\n");
        assert_eq!(tail.text().unwrap(), "oops");
        tail.push("ä".repeat(3000).as_bytes());
        tail.push(b"!");
        let text = tail.text().unwrap();
        assert!(
            text.starts_with("…ä") && text.ends_with("ä!") && text.len() < MAX_TAIL_BYTES + 4,
            "{text}"
        );
    }
}
