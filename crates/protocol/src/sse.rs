//! A parser for server-sent events that takes bytes in pieces of any size.

/// Allowed before the first line.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

#[derive(Debug, PartialEq, Eq)]
pub struct SseEvent {
    /// The text after `event:`; empty if there is none.
    pub kind: Vec<u8>,
    pub data: Vec<u8>,
}

#[derive(Debug, PartialEq, Eq)]
pub struct EventTooLong;

/// Returns events that have data; comments, ids and retry times are skipped.
pub struct SseParser {
    max_event_bytes: usize,
    /// The incomplete current line.
    line: Vec<u8>,
    kind: Vec<u8>,
    data: Option<Vec<u8>>,
    /// The last line ended with a carriage return, so a following line feed belongs to it.
    after_return: bool,
}

impl SseParser {
    pub fn new(max_event_bytes: usize) -> Self {
        Self {
            max_event_bytes,
            line: Vec::new(),
            kind: Vec::new(),
            data: None,
            after_return: false,
        }
    }

    /// Takes the next piece and returns the events it completes.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Vec<SseEvent>, EventTooLong> {
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
    pub fn end(&mut self) -> Result<Option<SseEvent>, EventTooLong> {
        let complete = self.end_line()?;
        Ok(complete.or_else(|| self.end_event()))
    }

    fn end_line(&mut self) -> Result<Option<SseEvent>, EventTooLong> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            return Ok(self.end_event());
        }
        let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&line);
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let value = line.get(colon + 1..).unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match &line[..colon] {
            b"event" => self.kind = value.to_vec(),
            b"data" => match &mut self.data {
                Some(data) => {
                    data.push(b'\n');
                    data.extend_from_slice(value);
                }
                None => self.data = Some(value.to_vec()),
            },
            _ => {}
        }
        self.check()?;
        Ok(None)
    }

    fn end_event(&mut self) -> Option<SseEvent> {
        let kind = std::mem::take(&mut self.kind);
        let data = self.data.take()?;
        Some(SseEvent { kind, data })
    }

    fn check(&self) -> Result<(), EventTooLong> {
        let held = self.line.len() + self.kind.len() + self.data.as_ref().map_or(0, Vec::len);
        if held > self.max_event_bytes {
            Err(EventTooLong)
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<(String, String)> {
        let mut parser = SseParser::new(1024);
        let mut all = Vec::new();
        for piece in pieces {
            all.extend(parser.feed(piece).unwrap());
        }
        all.extend(parser.end().unwrap());
        let text = |bytes| String::from_utf8(bytes).unwrap();
        all.into_iter()
            .map(|SseEvent { kind, data }| (text(kind), text(data)))
            .collect()
    }

    const STREAM: &str = "\u{FEFF}data: 1\n\n: hello\n\ndata: {\"a\":\"ä\"}\n\nevent: x\r\nid: 7\r\ndata:one\r\ndata: two\r\n\r\ndata\rdata:  three\r\rdatabase: no\n\nevent: empty\n\ndata: [DONE]";

    #[test]
    fn events_are_the_same_for_every_split_of_the_bytes() {
        let expected = [
            ("", "1"),
            ("", "{\"a\":\"ä\"}"),
            ("x", "one\ntwo"),
            ("", "\n three"),
            ("", "[DONE]"),
        ]
        .map(|(kind, data)| (kind.to_owned(), data.to_owned()));
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
        let mut parser = SseParser::new(1024);
        assert_eq!(parser.feed(&[b'x'; 1024]), Ok(vec![]));
        assert_eq!(parser.feed(b"xx"), Err(EventTooLong));

        let mut parser = SseParser::new(1024);
        let line = format!("data: {}\n", "x".repeat(300));
        let fed: Vec<_> = (0..4).map(|_| parser.feed(line.as_bytes())).collect();
        assert_eq!(fed, [Ok(vec![]), Ok(vec![]), Ok(vec![]), Err(EventTooLong)]);
    }
}
