//! Starts a hub in the background when none runs. Concurrent callers start only one.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use countersign_client::address::read_hub_file;
use countersign_client::data_dir;
use countersign_protocol::api::HubFile;

use super::locate::Location;
use crate::client::CuemeClient;
use crate::failure::Failure;
use crate::terminal::out;

const START_TIMEOUT: Duration = Duration::from_secs(15);
/// When our hub exits because another one was first, the other one gets this long to answer.
const EXIT_GRACE: Duration = Duration::from_secs(2);
const POLL_INTERVAL: Duration = Duration::from_millis(10);
/// A longer log is put aside at a start, so that the output of this start stays in one file. A running hub bounds its
/// log by itself.
const MAX_LOG_BYTES_AT_START: u64 = 1024 * 1024;
const LOG_FILE: &str = "hub.log";
const MAX_TAIL_BYTES: u64 = 4 * 1024;

/// Returns when a hub answers on the data directory, even one that another process started.
pub fn start(data_flag: Option<&Path>) -> Result<(), Failure> {
    let data = data_dir::resolve(data_flag).map_err(|error| Failure::failed(&format!("{error:#}")))?;
    let until = Instant::now() + START_TIMEOUT;
    let Some(_lock) = acquire_start_lock(&data, until)? else {
        return Ok(());
    };
    let (log, log_start) = open_log(&data)?;
    let mut child = spawn(&data, log)?;
    let mut ended: Option<(ExitStatus, Instant)> = None;
    loop {
        if let Some(file) = running_hub(&data) {
            print_sign_in(&file, child.id());
            // Reaps the hub if it ends before this process, so that it does not stay as a zombie.
            thread::spawn(move || child.wait());
            return Ok(());
        }
        if ended.is_none() {
            ended = child
                .try_wait()
                .ok()
                .flatten()
                .map(|status| (status, Instant::now() + EXIT_GRACE));
        }
        let now = Instant::now();
        match ended {
            Some((status, until)) if now >= until => return Err(start_failure(&data, log_start, &status.to_string())),
            None if now >= until => return Err(start_failure(&data, log_start, "it does not answer")),
            Some(_) | None => sleep(POLL_INTERVAL),
        }
    }
}

/// Takes the start lock, so that one process starts a hub and the others wait for it: ten hubs starting at once would
/// slow down the one that gets the data directory. The system releases the lock when its holder ends. `None` if a hub
/// answers meanwhile.
fn acquire_start_lock(data: &Path, until: Instant) -> Result<Option<File>, Failure> {
    let unusable = |error| Failure::failed(&format!("cannot use the data directory {}: {error}", data.display()));
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(data)
        .map_err(unusable)?;
    if let Some(fault) = data_dir::fault_of_directory(data) {
        return Err(Failure::failed(&fault));
    }
    let path = data.join("start.lock");
    let lock = OpenOptions::new()
        .create(true)
        .append(true)
        .mode(0o600)
        .open(path)
        .map_err(unusable)?;
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(running_hub(data).is_none().then_some(lock)),
            Err(TryLockError::Error(error)) => return Err(unusable(error)),
            Err(TryLockError::WouldBlock) if Instant::now() >= until => {
                let message = format!(
                    "a hub is being started on {} and does not answer; see hub.log there",
                    data.display()
                );
                return Err(Failure::failed(&message));
            }
            Err(TryLockError::WouldBlock) if running_hub(data).is_some() => return Ok(None),
            Err(TryLockError::WouldBlock) => sleep(POLL_INTERVAL),
        }
    }
}

/// `hub.json`, if the hub that wrote it answers.
fn running_hub(data: &Path) -> Option<HubFile> {
    let file = read_hub_file(data).ok()?;
    let location = Location::of_file(&file, data)?;
    CuemeClient::new(location).accepts_token().then_some(file)
}

/// The log of background hubs, and the offset where the output of this one begins.
fn open_log(data: &Path) -> Result<(File, u64), Failure> {
    let path = data.join(LOG_FILE);
    if fs::metadata(&path).is_ok_and(|file| file.len() > MAX_LOG_BYTES_AT_START) {
        let _ = fs::rename(&path, data.join("hub.log.old"));
    }
    let open = || {
        let log = OpenOptions::new().create(true).append(true).mode(0o600).open(&path)?;
        log.set_permissions(Permissions::from_mode(0o600))?;
        let log_start = log.metadata()?.len();
        Ok((log, log_start))
    };
    open().map_err(|error: std::io::Error| Failure::failed(&format!("cannot write {}: {error}", path.display())))
}

fn spawn(data: &Path, log: File) -> Result<Child, Failure> {
    let program = sibling_program().unwrap_or_else(|| PathBuf::from("countersign"));
    // Inherited descriptors must not reach the hub: a pipe would never close, a lock never be released.
    close_fds::set_fds_cloexec_threadsafe(3, &[]);
    let spawned = log.try_clone().and_then(|errors| {
        Command::new(&program)
            .arg("--data")
            .arg(data)
            .args(["serve", "--detached", "--log-file", LOG_FILE])
            .current_dir(data)
            .env_clear()
            .envs(std::env::vars_os().filter(|(name, _)| is_inherited(name)))
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(errors)
            .spawn()
    });
    spawned.map_err(|error| {
        let message = "no hub is running, and none can be started";
        Failure::failed(&format!(
            "{message}: {}: {error}; is `countersign` installed?",
            program.display()
        ))
    })
}

/// Whether a hub inherits this environment variable. The hub outlives the shell that started it and must not get its
/// secrets.
fn is_inherited(name: &OsStr) -> bool {
    const NAMES: [&str; 12] = [
        "HOME",
        "PATH",
        "USER",
        "LOGNAME",
        "LANG",
        "TZ",
        "TMPDIR",
        "RUST_LOG",
        "NO_COLOR",
        "COUNTERSIGN_DATA",
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
    ];
    const PROXIES: [&str; 4] = ["http_proxy", "https_proxy", "all_proxy", "no_proxy"];
    let Some(name) = name.to_str() else { return false };
    NAMES.contains(&name)
        || PROXIES.contains(&name.to_ascii_lowercase().as_str())
        || ["LC_", "XDG_"].iter().any(|start| name.starts_with(start))
}

/// The `countersign` binary beside this `cueme`.
fn sibling_program() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?.with_file_name("countersign");
    program.is_file().then_some(program)
}

/// Prints the sign-in link, only for the hub that this process started: the link works once.
fn print_sign_in(file: &HubFile, child: u32) {
    if file.pid != Some(child) {
        return;
    }
    out::remark("started a hub in the background");
    if let Some(link) = &file.sign_in_url {
        out::remark(&format!("sign in to the inbox (works once): {link}"));
    }
}

fn start_failure(data: &Path, log_start: u64, why: &str) -> Failure {
    let path = data.join(LOG_FILE);
    let cause = last_line(&path, log_start)
        .map(|line| format!(": {line}"))
        .unwrap_or_default();
    Failure::failed(&format!(
        "the hub did not start ({why}){cause}; its log is {}",
        path.display()
    ))
}

fn last_line(path: &Path, log_start: u64) -> Option<String> {
    let mut file = File::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(log_start.max(length.saturating_sub(MAX_TAIL_BYTES))))
        .ok()?;
    let mut tail = Vec::new();
    file.take(MAX_TAIL_BYTES).read_to_end(&mut tail).ok()?;
    let tail = String::from_utf8_lossy(&tail);
    tail.lines()
        .rev()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hub_inherits_only_the_variables_it_needs() {
        for name in [
            "HOME",
            "PATH",
            "LANG",
            "LC_ALL",
            "XDG_DATA_HOME",
            "TZ",
            "RUST_LOG",
            "https_proxy",
            "NO_PROXY",
        ] {
            assert!(is_inherited(OsStr::new(name)), "{name}");
        }
        for name in [
            "COUNTERSIGN_TOKEN",
            "COUNTERSIGN_URL",
            "AWS_SECRET_ACCESS_KEY",
            "LD_PRELOAD",
            "CUEME_LANGUAGE",
        ] {
            assert!(!is_inherited(OsStr::new(name)), "{name}");
        }
    }

    #[test]
    fn the_last_log_line_explains_a_failed_start() {
        let path = std::env::temp_dir().join(format!("cueme-log-{}", std::process::id()));
        fs::write(&path, "of an earlier one\nerror: the port is taken\n\n").expect("written");
        assert_eq!(last_line(&path, 18).as_deref(), Some("error: the port is taken"));
        assert_eq!(last_line(&path, 1_000), None);
        let _ = fs::remove_file(path);
    }
}
