//! Zero set-up: where no hub runs, one is started in the background, once, however many ask for it.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use countersign_client::data_dir;

use super::locate::HubFile;
use crate::failure::Failure;
use crate::hub::Hub;
use crate::terminal::out;

const PATIENCE: Duration = Duration::from_secs(15);
/// Where our hub ended at once because another one was first, the other one needs a moment more.
const GRACE: Duration = Duration::from_secs(2);
const LOOK_AGAIN: Duration = Duration::from_millis(10);
const MOST_LOG_BYTES: u64 = 4 * 1024 * 1024;
const MOST_TAIL_BYTES: u64 = 4 * 1024;

/// Returns once a hub answers on the data directory, whoever started it.
pub fn start(named: Option<&Path>) -> Result<(), Failure> {
    let data = data_dir::resolve(named).map_err(|error| Failure::failed(&format!("{error:#}")))?;
    let until = Instant::now() + PATIENCE;
    let Some(_turn) = take_turn(&data, until)? else {
        return Ok(());
    };
    let (log, begin) = open_log(&data)?;
    let mut child = spawn(&data, log)?;
    let mut ended: Option<(ExitStatus, Instant)> = None;
    loop {
        if let Some(file) = answering(&data) {
            welcome(&file, child.id());
            // Whoever lives on as our child must not stay behind as a dead entry when it ends before us.
            thread::spawn(move || child.wait());
            return Ok(());
        }
        if ended.is_none() {
            ended = child
                .try_wait()
                .ok()
                .flatten()
                .map(|status| (status, Instant::now() + GRACE));
        }
        let now = Instant::now();
        match ended {
            Some((status, until)) if now >= until => return Err(no_start(&data, begin, &status.to_string())),
            None if now >= until => return Err(no_start(&data, begin, "it does not answer")),
            Some(_) | None => sleep(LOOK_AGAIN),
        }
    }
}

/// One starts, the others wait for it: ten hubs that start at once to find the place taken would slow down the one that
/// counts. The system lets go of the lock when its holder ends, however it ends. Nothing when meanwhile a hub answers.
fn take_turn(data: &Path, until: Instant) -> Result<Option<File>, Failure> {
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
            Ok(()) => return Ok(answering(data).is_none().then_some(lock)),
            Err(TryLockError::Error(error)) => return Err(unusable(error)),
            Err(TryLockError::WouldBlock) if Instant::now() >= until => {
                let told = format!(
                    "a hub is being started on {} and does not answer; see hub.log there",
                    data.display()
                );
                return Err(Failure::failed(&told));
            }
            Err(TryLockError::WouldBlock) if answering(data).is_some() => return Ok(None),
            Err(TryLockError::WouldBlock) => sleep(LOOK_AGAIN),
        }
    }
}

/// What `hub.json` says, when the hub that wrote it is there.
fn answering(data: &Path) -> Option<HubFile> {
    let file = HubFile::read(data).ok()?;
    let location = file.location(data)?;
    Hub::new(location).knows_us().then_some(file)
}

/// The log of hubs that nobody watches, with where this one's part begins.
fn open_log(data: &Path) -> Result<(File, u64), Failure> {
    let path = data.join("hub.log");
    if fs::metadata(&path).is_ok_and(|file| file.len() > MOST_LOG_BYTES) {
        let _ = fs::rename(&path, data.join("hub.log.old"));
    }
    let open = || {
        let log = OpenOptions::new().create(true).append(true).mode(0o600).open(&path)?;
        log.set_permissions(Permissions::from_mode(0o600))?;
        let begin = log.metadata()?.len();
        Ok((log, begin))
    };
    open().map_err(|error: std::io::Error| Failure::failed(&format!("cannot write {}: {error}", path.display())))
}

fn spawn(data: &Path, log: File) -> Result<Child, Failure> {
    let program = beside().unwrap_or_else(|| PathBuf::from("countersign"));
    // What the caller has open is not the hub's: a pipe would never end, a lock never be free.
    close_fds::set_fds_cloexec_threadsafe(3, &[]);
    let spawned = log.try_clone().and_then(|errors| {
        Command::new(&program)
            .arg("--data")
            .arg(data)
            .args(["serve", "--detached"])
            .current_dir(data)
            .env_clear()
            .envs(std::env::vars_os().filter(|(name, _)| is_of_use(name)))
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(errors)
            .spawn()
    });
    spawned.map_err(|error| {
        let told = "no hub is running, and none can be started";
        Failure::failed(&format!(
            "{told}: {}: {error}; is `countersign` installed?",
            program.display()
        ))
    })
}

/// What a hub needs of the environment. It outlives the shell it was started from, and the secrets in there are not its own.
fn is_of_use(name: &OsStr) -> bool {
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

/// The `countersign` that was installed together with this `cueme`.
fn beside() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?.with_file_name("countersign");
    program.is_file().then_some(program)
}

/// Only for the hub that this process started: the link works once.
fn welcome(file: &HubFile, child: u32) {
    if file.pid != Some(child) {
        return;
    }
    out::remark("started a hub in the background");
    if let Some(link) = &file.sign_in_url {
        out::remark(&format!("sign in to the inbox (works once): {link}"));
    }
}

fn no_start(data: &Path, begin: u64, why: &str) -> Failure {
    let path = data.join("hub.log");
    let said = last_line(&path, begin)
        .map(|line| format!(": {line}"))
        .unwrap_or_default();
    Failure::failed(&format!(
        "the hub did not start ({why}){said}; its log is {}",
        path.display()
    ))
}

fn last_line(path: &Path, begin: u64) -> Option<String> {
    let mut file = File::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(begin.max(length.saturating_sub(MOST_TAIL_BYTES))))
        .ok()?;
    let mut tail = Vec::new();
    file.take(MOST_TAIL_BYTES).read_to_end(&mut tail).ok()?;
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
    fn a_hub_gets_what_it_needs_of_the_environment() {
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
            assert!(is_of_use(OsStr::new(name)), "{name}");
        }
        for name in [
            "COUNTERSIGN_TOKEN",
            "COUNTERSIGN_URL",
            "AWS_SECRET_ACCESS_KEY",
            "LD_PRELOAD",
            "CUEME_LANGUAGE",
        ] {
            assert!(!is_of_use(OsStr::new(name)), "{name}");
        }
    }

    #[test]
    fn the_log_tells_why_a_hub_did_not_start() {
        let path = std::env::temp_dir().join(format!("cueme-log-{}", std::process::id()));
        fs::write(&path, "of an earlier one\nerror: the port is taken\n\n").expect("written");
        assert_eq!(last_line(&path, 18).as_deref(), Some("error: the port is taken"));
        assert_eq!(last_line(&path, 1_000), None);
        let _ = fs::remove_file(path);
    }
}
