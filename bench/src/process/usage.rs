use std::fs;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

/// Linux counts processor time in hundredths of a second on every architecture the hub runs on.
const TICK_MS: u64 = 10;
const IDLE_CHECK_INTERVAL: Duration = Duration::from_millis(300);
/// More than one, because a server may start deferred work after a quiet moment.
const QUIET_CHECKS: usize = 3;
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);

/// Processor time of processes and disk flushes, both since their start.
#[derive(Clone, Copy)]
pub struct Usage {
    pub cpu: Duration,
    /// Flushes of all disks of the machine; with one busy server these are its fsyncs.
    pub flushes: u64,
}

impl Usage {
    pub fn of(pid: u32) -> Result<Self> {
        let ticks = process_ticks(&pid.to_string())?;
        Ok(Self {
            cpu: Duration::from_millis(TICK_MS * (ticks[0] + ticks[1])),
            flushes: disk_flushes()?,
        })
    }

    /// The usage of several processes with their children: PostgreSQL has a process per connection.
    pub fn of_process_trees(pids: &[u32]) -> Result<Self> {
        let ticks: u64 = pids.iter().map(|pid| tree_ticks(*pid)).sum::<Result<u64>>()?;
        Ok(Self {
            cpu: Duration::from_millis(TICK_MS * ticks),
            flushes: disk_flushes()?,
        })
    }
}

pub fn rss_bytes(pid: u32) -> Result<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .context("no VmRSS")?;
    let kibibytes: u64 = line.trim().trim_end_matches("kB").trim().parse()?;
    Ok(kibibytes * 1024)
}

/// Checks the open-file limit up front, instead of failing with a refused connection in the middle of a run.
pub fn ensure_open_files(needed: usize) -> Result<()> {
    let limits = fs::read_to_string("/proc/self/limits")?;
    let line = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max open files"))
        .context("no limit of open files")?;
    let allowed = line.split_whitespace().next().unwrap_or_default();
    let enough = allowed == "unlimited" || allowed.parse::<usize>()? >= needed;
    ensure!(
        enough,
        "{needed} open files are needed and {allowed} are allowed: run `ulimit -n {needed}` first"
    );
    Ok(())
}

/// Waits until a process uses no more processor time.
pub async fn wait_until_idle(pid: u32) -> Result<()> {
    let deadline = Instant::now() + IDLE_TIMEOUT;
    let mut before = Usage::of(pid)?.cpu;
    let mut quiet = 0;
    while quiet < QUIET_CHECKS {
        ensure!(
            Instant::now() < deadline,
            "the server was not idle within {IDLE_TIMEOUT:?}"
        );
        tokio::time::sleep(IDLE_CHECK_INTERVAL).await;
        let now = Usage::of(pid)?.cpu;
        quiet = if now == before { quiet + 1 } else { 0 };
        before = now;
    }
    Ok(())
}

/// Processor time of the whole machine, and of this program with all servers it has stopped. The difference went to
/// other programs and tells how far a figure can be trusted.
pub struct MachineTime {
    started: Instant,
    all: Duration,
    own: Duration,
}

impl MachineTime {
    pub fn now() -> Result<Self> {
        let own = process_ticks("self")?.iter().sum::<u64>();
        Ok(Self {
            started: Instant::now(),
            all: Duration::from_millis(TICK_MS * machine_ticks()?),
            own: Duration::from_millis(TICK_MS * own),
        })
    }

    /// The share of the machine that other programs used since `self` was taken, between 0 and 1.
    pub fn taken_by_others(&self) -> Result<f64> {
        let now = Self::now()?;
        let others = now
            .all
            .saturating_sub(self.all)
            .saturating_sub(now.own.saturating_sub(self.own));
        let cores = std::thread::available_parallelism()?.get() as f64;
        Ok(others.as_secs_f64() / (self.started.elapsed().as_secs_f64() * cores))
    }
}

/// User and system time of a process, then of its children that have ended.
fn process_ticks(pid: &str) -> Result<[u64; 4]> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).with_context(|| format!("process {pid} is gone"))?;
    // The process name may contain blanks and brackets, so fields are counted from the last bracket.
    let (_, fields) = stat.rsplit_once(')').context("unreadable stat")?;
    let mut ticks = fields.split_whitespace().skip(11).map(str::parse);
    let mut next = || -> Result<u64> { Ok(ticks.next().context("short stat")??) };
    Ok([next()?, next()?, next()?, next()?])
}

/// The ticks of a process and of its children, ended and living.
fn tree_ticks(pid: u32) -> Result<u64> {
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    // A child that ends right now is counted by its parent.
    let living = children
        .split_whitespace()
        .filter_map(|child| process_ticks(child).ok());
    let living: u64 = living.map(|ticks| ticks.iter().sum::<u64>()).sum();
    Ok(process_ticks(&pid.to_string())?.iter().sum::<u64>() + living)
}

/// User, nice, system, irq, softirq and stolen time of all cores.
fn machine_ticks() -> Result<u64> {
    let stat = fs::read_to_string("/proc/stat")?;
    let line = stat.lines().next().context("empty stat")?;
    let ticks: Vec<u64> = line
        .split_whitespace()
        .skip(1)
        .map(|field| field.parse().unwrap_or(0))
        .collect();
    ensure!(ticks.len() >= 8, "short stat");
    Ok(ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6] + ticks[7])
}

fn disk_flushes() -> Result<u64> {
    let disks = fs::read_to_string("/proc/diskstats")?;
    Ok(disks
        .lines()
        .filter_map(|line| line.split_whitespace().nth(18)?.parse::<u64>().ok())
        .sum())
}
