//! The log of a hub. A line is queued and written by a thread of its own, so that logging never blocks and never fails
//! its caller. Lines that cannot be written are dropped and counted.
//!
//! Not tracing-appender: it does not count failed writes, prints to standard output when its queue is full at the end,
//! and brings two crates.

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use countersign_config::{LogFormat, LogTable};
use countersign_hub::process::DROPPED_LOG_LINES;
use countersign_telemetry::request::ACCESS;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer};

use super::log_file::LogFile;
use super::log_format::LineFormat;
#[cfg(feature = "otel")]
use super::span_export::SpanExport;
use crate::args::LogArgs;

const QUEUE_LINES: usize = 1024;
/// How long the end of the process waits for queued lines.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);
const FLUSH_POLL_INTERVAL: Duration = Duration::from_millis(5);

enum Entry {
    Line(Vec<u8>),
    /// Acknowledged when all lines before it are written.
    Flush(SyncSender<()>),
}

pub struct LogOptions {
    file: Option<PathBuf>,
    format: LogFormat,
    access: bool,
}

impl LogOptions {
    /// Flags win over the file.
    pub fn new(file: Option<PathBuf>, flags: &LogArgs, table: &LogTable) -> Self {
        Self {
            file,
            format: flags.log_format.map_or(table.format, LogFormat::from),
            access: flags.access_log || table.access,
        }
    }
}

/// Writes the queued lines, and sends the last spans, when it is dropped.
pub struct LogGuard {
    queue: SyncSender<Entry>,
    #[cfg(feature = "otel")]
    _spans: Option<SpanExport>,
}

/// Logs to the file, else to standard error. Logs hold only ids and codes; `RUST_LOG` sets the level.
pub fn start(options: &LogOptions) -> Result<LogGuard> {
    let (queue, entries) = sync_channel(QUEUE_LINES);
    let sink: Box<dyn Write + Send> = match &options.file {
        Some(path) => Box::new(LogFile::open(path).with_context(|| format!("cannot log to {}", path.display()))?),
        // Not std's handle: its lock would block every other writer while the pipe is full.
        None => Box::new(File::from(io::stderr().as_fd().try_clone_to_owned()?)),
    };
    thread::Builder::new()
        .name("log".to_owned())
        .spawn(move || write_entries(&entries, sink))
        .context("cannot start the log thread")?;
    let is_coloured = options.file.is_none() && io::stderr().is_terminal();
    let writer = LineQueue(queue.clone());
    let lines = tracing_subscriber::fmt::layer()
        .with_ansi(is_coloured)
        // Its own errors would go to standard error, with a panic if that fails.
        .log_internal_errors(false)
        .with_writer(move || writer.clone())
        .event_format(LineFormat::new(options.format, is_coloured))
        .with_filter(filter(options.access));
    let subscriber = tracing_subscriber::registry().with(lines);
    #[cfg(feature = "otel")]
    let spans = SpanExport::from_env()?;
    #[cfg(feature = "otel")]
    let subscriber = subscriber.with(spans.as_ref().map(SpanExport::layer));
    subscriber.init();
    log_panics();
    Ok(LogGuard {
        queue,
        #[cfg(feature = "otel")]
        _spans: spans,
    })
}

fn filter(access: bool) -> EnvFilter {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("warn"));
    let access = format!("{ACCESS}={}", if access { "info" } else { "off" });
    // These crates would trace the full content of sockets and database statements.
    let fixed = [
        "tungstenite=warn",
        "tokio_tungstenite=warn",
        "tokio_postgres=warn",
        access.as_str(),
    ];
    let fixed = fixed.into_iter().flat_map(str::parse);
    fixed.fold(filter, EnvFilter::add_directive)
}

/// Replaces the hook that writes to standard error, which may block. A formatted panic message is left out, because it may
/// hold content of a message.
fn log_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let text = panic
            .payload()
            .downcast_ref::<&'static str>()
            .copied()
            .unwrap_or_default();
        let location = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!(text, location, "panic");
    }));
}

#[derive(Clone)]
struct LineQueue(SyncSender<Entry>);

impl Write for LineQueue {
    /// Called once per line, with all of it.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if self.0.try_send(Entry::Line(line.to_vec())).is_err() {
            DROPPED_LOG_LINES.fetch_add(1, Ordering::Relaxed);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn write_entries(entries: &Receiver<Entry>, mut sink: impl Write) {
    let mut reported = 0;
    for entry in entries {
        match entry {
            Entry::Line(line) if sink.write_all(&line).is_ok() => {
                let dropped = DROPPED_LOG_LINES.load(Ordering::Relaxed);
                if dropped > reported {
                    tracing::warn!(lines = dropped - reported, "log lines were dropped");
                    reported = dropped;
                }
            }
            Entry::Line(_) => {
                DROPPED_LOG_LINES.fetch_add(1, Ordering::Relaxed);
            }
            Entry::Flush(done) => drop(done.try_send(())),
        }
    }
}

impl Drop for LogGuard {
    fn drop(&mut self) {
        let until = Instant::now() + FLUSH_TIMEOUT;
        let (done, written) = sync_channel(1);
        let mut flush = Entry::Flush(done);
        while let Err(TrySendError::Full(entry)) = self.queue.try_send(flush) {
            if Instant::now() >= until {
                return;
            }
            flush = entry;
            thread::sleep(FLUSH_POLL_INTERVAL);
        }
        let _ = written.recv_timeout(until.saturating_duration_since(Instant::now()));
    }
}
