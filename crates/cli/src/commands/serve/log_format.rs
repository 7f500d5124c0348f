//! The lines of the log, as text or as JSON. Lines that a request logs carry its id in both.

use std::fmt;

use countersign_config::LogFormat;
use countersign_telemetry::request::current_id;
use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::{Format, Writer};
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

const REQUEST_ID: &str = "request_id";

pub enum LineFormat {
    Text(Format),
    Json,
}

impl LineFormat {
    pub fn new(format: LogFormat, is_coloured: bool) -> Self {
        match format {
            LogFormat::Text => Self::Text(Format::default().with_ansi(is_coloured)),
            LogFormat::Json => Self::Json,
        }
    }
}

impl<S, N> FormatEvent<S, N> for LineFormat
where
    S: Subscriber + for<'s> LookupSpan<'s>,
    N: for<'w> FormatFields<'w> + 'static,
{
    fn format_event(&self, ctx: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        match self {
            Self::Json => writeln!(writer, "{}", Value::Object(json_line(event)?)),
            // The text of a span has the id already.
            Self::Text(format) => match current_id().filter(|_| ctx.lookup_current().is_none()) {
                None => format.format_event(ctx, writer, event),
                Some(id) => {
                    let mut line = String::new();
                    format.format_event(ctx, Writer::new(&mut line), event)?;
                    writeln!(writer, "{} {REQUEST_ID}={id}", line.trim_end())
                }
            },
        }
    }
}

/// One object without nesting, so that every field can be searched by its name.
fn json_line(event: &Event<'_>) -> Result<Map<String, Value>, fmt::Error> {
    let metadata = event.metadata();
    let mut timestamp = String::new();
    SystemTime.format_time(&mut Writer::new(&mut timestamp))?;
    let mut line = JsonFields(Map::new());
    line.add("timestamp", timestamp);
    line.add("level", metadata.level().as_str());
    line.add("target", metadata.target());
    event.record(&mut line);
    if let Some(id) = current_id() {
        line.add(REQUEST_ID, id.to_string());
    }
    Ok(line.0)
}

struct JsonFields(Map<String, Value>);

impl JsonFields {
    /// The first of a name stays.
    fn add(&mut self, name: &str, value: impl Into<Value>) {
        self.0.entry(name).or_insert_with(|| value.into());
    }
}

impl Visit for JsonFields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.add(field.name(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.add(field.name(), value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.add(field.name(), value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.add(field.name(), value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.add(field.name(), value);
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.add(field.name(), value);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use tracing_subscriber::layer::SubscriberExt;

    use super::*;

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl std::io::Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    /// What is logged inside of `work`.
    fn logged(format: LogFormat, work: impl FnOnce()) -> String {
        let lines = Lines::default();
        let writer = lines.clone();
        let layer = tracing_subscriber::fmt::layer()
            .with_ansi(false)
            .with_writer(move || writer.clone())
            .event_format(LineFormat::new(format, false));
        tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), work);
        String::from_utf8(lines.0.lock().unwrap().clone()).unwrap()
    }

    #[test]
    fn json_line_is_one_flat_object_that_no_value_can_break() {
        let text = logged(LogFormat::Json, || {
            tracing::warn!(
                host = "a\"b\nc",
                attempt = 3_u32,
                took = 0.5,
                is_last = true,
                level = "fake",
                "push {}",
                7
            );
        });
        assert_eq!(text.lines().count(), 1, "{text}");
        let line: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(line["level"], "WARN");
        assert_eq!(line["message"], "push 7");
        assert_eq!(line["host"], "a\"b\nc");
        assert_eq!((&line["attempt"], &line["took"]), (&3.into(), &0.5.into()));
        assert_eq!(line["is_last"], true);
        assert!(line["timestamp"].as_str().unwrap().ends_with('Z'), "{line}");
        assert_eq!(line.get(REQUEST_ID), None);
    }

    #[test]
    fn text_line_outside_of_a_request_has_no_id() {
        let text = logged(LogFormat::Text, || tracing::warn!(attempt = 3, "push failed"));
        assert!(text.ends_with(": push failed attempt=3\n"), "{text}");
    }
}
