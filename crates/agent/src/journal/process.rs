//! The process that holds a reservation, and whether it still runs.

use std::fs;

/// A process, identified by pid, start time and boot id: pids are reused, and start times count from boot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessIdentity {
    pub pid: u32,
    pub started: String,
}

impl ProcessIdentity {
    /// This process. The start time is empty on systems that do not report it.
    pub fn current() -> Self {
        let pid = std::process::id();
        Self {
            pid,
            started: started(pid).unwrap_or_default(),
        }
    }

    /// Another process; `None` when it has ended already.
    pub fn of(pid: u32) -> Option<Self> {
        started(pid).map(|started| Self { pid, started })
    }

    /// A process that is not visible to us counts as dead. That is safe: its reservation shows as interrupted, which
    /// does not allow another process to act either.
    pub fn is_alive(&self) -> bool {
        *self == Self::current() || started(self.pid).is_some_and(|started| started == self.started)
    }
}

/// `None` when there is no such process.
fn started(pid: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let ticks = start_ticks(&stat)?;
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    Some(format!("{}+{ticks}", boot.trim()))
}

/// Parses the start time from `/proc/PID/stat`. The name in parentheses may contain anything, so parsing starts after
/// the last one: first the state, then the start time 19 fields later. A zombie counts as dead.
fn start_ticks(stat: &str) -> Option<&str> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace();
    let state = fields.next()?;
    if matches!(state, "Z" | "X" | "x") {
        None
    } else {
        fields.nth(18)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str =
        "42 (a) R 1) S 1 42 42 0 -1 4194304 9 8 7 6 5 4 3 2 20 0 1 0 123456 1000 200 18446744073709551615";

    #[test]
    fn the_start_time_is_read_after_any_process_name() {
        assert_eq!(start_ticks(STAT), Some("123456"));
        assert_eq!(start_ticks(&STAT.replace(") S", ") Z")), None);
        assert_eq!(start_ticks("42 (a) S 1"), None);
        assert_eq!(start_ticks(""), None);
    }

    #[test]
    fn this_process_is_alive_but_its_pid_with_another_start_time_is_not() {
        let process = ProcessIdentity::current();
        assert!(process.is_alive());
        assert!(
            !ProcessIdentity {
                started: "another boot+1".to_owned(),
                ..process.clone()
            }
            .is_alive()
        );
        assert!(
            !ProcessIdentity {
                pid: u32::MAX,
                ..process
            }
            .is_alive()
        );
    }

    #[test]
    fn a_killed_child_is_dead_before_it_is_waited_for() {
        let mut child = std::process::Command::new("cat")
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let process = ProcessIdentity::of(child.id()).unwrap();
        assert!(process.is_alive());
        child.kill().unwrap();
        // The child is a zombie until `wait`, so /proc still lists it.
        while process.is_alive() {
            std::thread::yield_now();
        }
        child.wait().unwrap();
        assert!(!process.is_alive());
    }
}
