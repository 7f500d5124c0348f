//! A parser for server-sent events that takes bytes in pieces of any size.

/// Size limit of one event; a normal answer comes in thousands of small ones.
const MAX_EVENT_BYTES: usize = 4 * 1024 * 1024;
/// Allowed before the first line.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

#[derive(Debug, PartialEq, Eq)]
pub struct EventTooLong;

/// Returns the data of every event; comments, names and ids are skipped.
#[derive(Default)]
pub struct SseParser {
    /// The incomplete current line.
    line: Vec<u8>,
    data: Option<Vec<u8>>,
    /// The last line ended with a carriage return, so a following line feed belongs to it.
    after_return: bool,
}

impl SseParser {
    /// Takes the next piece and returns the events it completes.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, EventTooLong> {
        let mut complete = Vec::new();
        let mut rest = bytes;
        if self.after_return && !rest.is_empty() {
            self.after_return = false;
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        }
        while let Some(end) = rest.iter().position(|byte| matches!(byte, b'\r' | b'\n')) {
            self.line.extend_from_slice(&rest[..end]);
            let returned = rest[end] == b'\r';
            rest = &rest[end + 1..];
            match rest.strip_prefix(b"\n") {
                Some(after) if returned => rest = after,
                Some(_) | None => self.after_return = returned && rest.is_empty(),
            }
            complete.extend(self.end_line()?);
        }
        self.line.extend_from_slice(rest);
        self.check()?;
        Ok(complete)
    }

    /// The last event, from a server that ends without the empty line.
    pub fn end(&mut self) -> Result<Option<Vec<u8>>, EventTooLong> {
        let complete = self.end_line()?;
        Ok(complete.or_else(|| self.data.take()))
    }

    fn end_line(&mut self) -> Result<Option<Vec<u8>>, EventTooLong> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            return Ok(self.data.take());
        }
        let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&line);
        if let Some(value) = line.strip_prefix(b"data") {
            match value {
                [] => self.add(&[]),
                [b':', b' ', value @ ..] | [b':', value @ ..] => self.add(value),
                // Another field whose name starts with "data".
                [..] => {}
            }
        }
        self.check()?;
        Ok(None)
    }

    fn add(&mut self, value: &[u8]) {
        match &mut self.data {
            Some(data) => {
                data.push(b'\n');
                data.extend_from_slice(value);
            }
            None => self.data = Some(value.to_vec()),
        }
    }

    fn check(&self) -> Result<(), EventTooLong> {
        let held = self.line.len() + self.data.as_ref().map_or(0, Vec::len);
        if held > MAX_EVENT_BYTES {
            Err(EventTooLong)
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<String> {
        let mut parser = SseParser::default();
        let mut all = Vec::new();
        for piece in pieces {
            all.extend(parser.feed(piece).unwrap());
        }
        all.extend(parser.end().unwrap());
        all.into_iter().map(|data| String::from_utf8(data).unwrap()).collect()
    }

    const STREAM: &str = "\u{FEFF}data: 1\n\n: hello\n\ndata: {\"a\":\"ä\"}\n\nevent: x\r\nid: 7\r\ndata:one\r\ndata: two\r\n\r\ndata\rdata:  three\r\rdatabase: no\n\ndata: [DONE]";

    #[test]
    fn events_are_the_same_for_every_split_of_the_bytes() {
        let expected = ["1", "{\"a\":\"ä\"}", "one\ntwo", "\n three", "[DONE]"];
        let bytes = STREAM.as_bytes();
        assert_eq!(read([bytes]), expected);
        assert_eq!(read(bytes.chunks(1)), expected);
        for cut in 0..=bytes.len() {
            let (before, after) = bytes.split_at(cut);
            assert_eq!(read([before, after]), expected, "cut at {cut}");
            assert_eq!(read([before, b"".as_slice(), after]), expected, "cut twice at {cut}");
        }
    }

    #[test]
    fn endless_lines_and_events_are_refused() {
        let long = vec![b'x'; MAX_EVENT_BYTES];
        let mut parser = SseParser::default();
        assert_eq!(parser.feed(&long), Ok(vec![]));
        assert_eq!(parser.feed(b"xx"), Err(EventTooLong));

        let mut parser = SseParser::default();
        let mut fed = Ok(vec![]);
        for _ in 0..5 {
            fed = fed.and_then(|_| parser.feed(format!("data: {}\n", "x".repeat(1024 * 1024)).as_bytes()));
        }
        assert_eq!(fed, Err(EventTooLong));
    }
}
