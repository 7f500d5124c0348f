use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use countersign_core::delivery::{MIN_ATTEMPTS, Schedule};
use countersign_core::hold::{DEFAULT_UNDO_SECONDS, MAX_UNDO_SECONDS};
use countersign_core::limits::Limits;
use serde::Deserialize;
use url::{Host, Url};

use crate::lan::check_lan;
use crate::public_url::parse_public_url;
use crate::{ConfigError, ConfigFile, LlmSettings, RunsSettings, Secret, TrustedProxies};

pub const DEFAULT_LISTEN: &str = "127.0.0.1:7422";
const DEFAULT_DATABASE_WAIT_SECONDS: u64 = 300;

#[derive(Debug, Clone)]
pub struct Config {
    pub listen: SocketAddr,
    /// The default address; if its port is taken, any free port will do.
    pub listen_is_default: bool,
    pub public_url: Option<String>,
    /// Where phones in the same network reach the hub, over TLS. `public_url` is this address then.
    pub lan: Option<SocketAddr>,
    /// PostgreSQL URL; `None` means SQLite in the data directory.
    pub database_url: Option<Secret>,
    /// How long a starting hub waits for a PostgreSQL that cannot be reached; zero means not at all.
    pub wait_for_database: Duration,
    pub trusted_proxies: TrustedProxies,
    /// Host names to answer for besides those of this machine and of `public_url`, in lower case and without a port.
    pub allowed_hosts: Vec<String>,
    pub tls: Option<TlsFiles>,
    pub retention_days: u32,
    /// How long a decision in an inbox can be taken back, by people who have set no time of their own.
    pub undo_seconds: u32,
    /// Per agent; `None` means no limit.
    pub requests_per_minute: Option<NonZeroU32>,
    /// Open asks and tasks per agent; `None` means no limit.
    pub inbox_depth: Option<u32>,
    pub limits: Limits,
    pub push: PushSettings,
    pub runs: RunsSettings,
    pub llm: LlmSettings,
}

#[derive(Debug, Clone)]
pub struct TlsFiles {
    pub cert: PathBuf,
    pub key: PathBuf,
}

#[derive(Debug, Clone, Copy)]
pub struct PushSettings {
    pub legacy: LegacyPush,
    pub schedule: Schedule,
    pub attempt_timeout: Duration,
    pub per_host_concurrency: usize,
    /// Development only: allows callbacks to this machine over plain HTTP.
    pub allow_loopback: bool,
}

/// Handling of push requests with a protocol version whose signature does not cover the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LegacyPush {
    Negotiate,
    Reject,
}

/// Command-line flags, which override the file.
#[derive(Debug, Clone, Default)]
pub struct Overrides {
    pub listen: Option<String>,
    pub public_url: Option<String>,
    pub lan: Option<IpAddr>,
    pub database_url: Option<Secret>,
    pub wait_for_database: Option<Duration>,
    pub trusted_proxies: Option<Vec<String>>,
    pub tls: Option<TlsFiles>,
    pub allow_plain_http: bool,
    pub allow_loopback_callbacks: bool,
}

impl Config {
    pub fn retention(&self) -> Duration {
        Duration::from_secs(u64::from(self.retention_days) * 24 * 3600)
    }

    pub fn resolve(file: ConfigFile, flags: Overrides) -> Result<Self, ConfigError> {
        let chosen = flags.listen.clone().or(file.listen.clone());
        let listen_is_default = chosen.is_none();
        let listen = parse_listen(chosen.as_deref().unwrap_or(DEFAULT_LISTEN))?;
        let public_url = flags
            .public_url
            .as_deref()
            .or(file.public_url.as_deref())
            .map(parse_public_url)
            .transpose()?;
        let lan = match flags.lan {
            Some(ip) => Some(check_lan(ip, listen, public_url.is_some() || file.tls.is_some())?),
            None => None,
        };
        let public_url = lan.map(|address| format!("https://{address}")).or(public_url);
        let proxies = flags
            .trusted_proxies
            .as_deref()
            .or(file.trusted_proxies.as_deref())
            .unwrap_or_default();
        let from_file = file.tls.as_ref().map(|tls| TlsFiles {
            cert: tls.cert.clone(),
            key: tls.key.clone(),
        });
        let tls = flags.tls.clone().or(from_file);
        let plain_allowed = flags.allow_plain_http || file.allow_plain_http.unwrap_or(false);
        let push = push_settings(&file, &flags)?;
        check_exposure(listen, tls.is_some(), plain_allowed)?;
        if push.allow_loopback {
            check_development(listen, public_url.as_deref())?;
        }
        let retention_days = file.retention_days.unwrap_or(30);
        if retention_days == 0 {
            return Err(ConfigError::invalid("retention_days", "must be at least 1 day"));
        }
        let wait_seconds = file.wait_for_database_seconds.unwrap_or(DEFAULT_DATABASE_WAIT_SECONDS);
        Ok(Self {
            listen,
            listen_is_default,
            public_url,
            lan,
            database_url: database_url(flags.database_url.or_else(|| file.database_url.clone()))?,
            wait_for_database: flags.wait_for_database.unwrap_or(Duration::from_secs(wait_seconds)),
            trusted_proxies: TrustedProxies::parse(proxies)?,
            allowed_hosts: allowed_hosts(&file.allowed_hosts)?,
            tls,
            retention_days,
            undo_seconds: undo_seconds(file.undo_seconds)?,
            requests_per_minute: NonZeroU32::new(file.limits.requests_per_minute.unwrap_or(6000)),
            inbox_depth: Some(file.limits.inbox_depth.unwrap_or(10_000)).filter(|depth| *depth > 0),
            limits: limits(&file)?,
            push,
            runs: RunsSettings::resolve(file.runs)?,
            llm: LlmSettings::resolve(file.llm)?,
        })
    }
}

fn undo_seconds(seconds: Option<u32>) -> Result<u32, ConfigError> {
    let seconds = seconds.unwrap_or(DEFAULT_UNDO_SECONDS);
    if seconds > MAX_UNDO_SECONDS {
        let message = format!("must be at most {MAX_UNDO_SECONDS}; 0 switches undo off");
        return Err(ConfigError::invalid("undo_seconds", message));
    }
    Ok(seconds)
}

/// The URL may hold a password, so errors do not show it.
fn database_url(url: Option<Secret>) -> Result<Option<Secret>, ConfigError> {
    let Some(url) = url else { return Ok(None) };
    let is_one = ["postgres://", "postgresql://"]
        .iter()
        .any(|scheme| url.reveal().starts_with(scheme));
    if !is_one {
        let message = "must begin with postgres://, as in postgres://user@host/name; leave it out to use a SQLite file";
        return Err(ConfigError::invalid("database_url", message));
    }
    Ok(Some(url))
}

fn allowed_hosts(names: &[String]) -> Result<Vec<String>, ConfigError> {
    let parse = |name: &String| match Host::parse(name) {
        Ok(host) => Ok(host.to_string()),
        Err(_) => {
            let message = format!("{name:?} is not a host name; write it without scheme and port, as in hub.lan");
            Err(ConfigError::invalid("allowed_hosts", message))
        }
    };
    names.iter().map(parse).collect()
}

fn parse_listen(text: &str) -> Result<SocketAddr, ConfigError> {
    let spelled = text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
    spelled.as_deref().unwrap_or(text).parse().map_err(|_| {
        ConfigError::invalid(
            "listen",
            format!("{text} is not an IP address with a port; write it as 127.0.0.1:7422 or [::1]:7422"),
        )
    })
}

/// Loopback callbacks need a local hub: with a reachable one, its users could attack services on this machine (SSRF).
fn check_development(listen: SocketAddr, public_url: Option<&str>) -> Result<(), ConfigError> {
    let is_local = |url: &str| {
        let host = Url::parse(url)
            .ok()
            .and_then(|url| url.host_str().map(str::to_owned))
            .unwrap_or_default();
        matches!(host.as_str(), "localhost" | "127.0.0.1" | "[::1]")
    };
    let refuse = |address: &str| {
        let message = format!("is for development only and not allowed together with the public address {address}");
        Err(ConfigError::invalid("allow_loopback_callbacks", message))
    };
    match public_url {
        _ if !listen.ip().is_loopback() => refuse(&listen.to_string()),
        Some(url) if !is_local(url) => refuse(url),
        Some(_) | None => Ok(()),
    }
}

/// Plain HTTP beyond this machine needs an explicit flag.
fn check_exposure(listen: SocketAddr, tls: bool, plain_allowed: bool) -> Result<(), ConfigError> {
    if !listen.ip().is_loopback() && !tls && !plain_allowed {
        let message = format!(
            "{listen} is reachable from other machines and would serve plain HTTP; give --tls-cert and --tls-key, \
             listen on loopback behind a proxy, or give --allow-plain-http"
        );
        return Err(ConfigError::invalid("listen", message));
    }
    Ok(())
}

fn limits(file: &ConfigFile) -> Result<Limits, ConfigError> {
    let table = &file.limits;
    let limits = Limits {
        max_request_bytes: table.max_request_bytes.unwrap_or(1024 * 1024),
        max_body_bytes: table.max_body_bytes.unwrap_or(64 * 1024),
        max_part_bytes: table.max_part_bytes.unwrap_or(256 * 1024),
        max_context_parts: table.max_context_parts.unwrap_or(16),
        max_state_bytes: table.max_state_bytes.unwrap_or(256 * 1024),
    };
    if limits.max_request_bytes < 4096 || limits.max_request_bytes > 64 * 1024 * 1024 {
        return Err(ConfigError::invalid(
            "limits.max_request_bytes",
            "choose between 4096 bytes and 64 MiB",
        ));
    }
    if limits.max_body_bytes == 0 || limits.max_part_bytes == 0 {
        return Err(ConfigError::invalid(
            "limits",
            "max_body_bytes and max_part_bytes must be at least 1",
        ));
    }
    Ok(limits)
}

fn push_settings(file: &ConfigFile, flags: &Overrides) -> Result<PushSettings, ConfigError> {
    let table = &file.push;
    let schedule = Schedule {
        max_attempts: table.max_attempts.unwrap_or(16),
        max_duration: Duration::from_secs(table.max_duration_seconds.unwrap_or(24 * 3600)),
        first_retry: Duration::from_millis(table.first_retry_ms.unwrap_or(1000).max(1)),
    };
    if schedule.max_attempts < MIN_ATTEMPTS {
        let message = format!("must be at least {MIN_ATTEMPTS}, as the protocol requires");
        return Err(ConfigError::invalid("push.max_attempts", message));
    }
    Ok(PushSettings {
        legacy: table.legacy.unwrap_or(LegacyPush::Negotiate),
        schedule,
        attempt_timeout: Duration::from_millis(table.attempt_timeout_ms.unwrap_or(10_000).max(1)),
        per_host_concurrency: table.per_host_concurrency.unwrap_or(32).max(1),
        allow_loopback: flags.allow_loopback_callbacks || file.allow_loopback_callbacks.unwrap_or(false),
    })
}
