use std::time::Duration;

use crate::load::Window;
use crate::process::HubOptions;

/// How much of everything.
pub struct Settings {
    pub hub: HubOptions,
    pub window: Window,
    /// How often each side of a pair is measured.
    pub rounds: usize,
    /// Agents that wait on a socket each.
    pub sockets: usize,
    /// Agents that wait on an HTTP/2 stream each.
    pub streams: usize,
    /// Messages in the small and in the large store.
    pub small: usize,
    pub large: usize,
    /// Pushes to a receiver that answers, and to one that hangs.
    pub pushes: usize,
    pub hanging: usize,
    /// Messages behind the inbox that is opened and searched.
    pub behind_inbox: usize,
    /// People who look at once, and what they are shown.
    pub viewers: usize,
    pub shown: usize,
    /// Requests of an agent in a terminal in one round, and how long one of them is watched while it waits.
    pub cues: usize,
    pub idle: Duration,
    /// Runs that wait for a person at once.
    pub waiting_runs: usize,
    /// Rounds of a run that is watched by somebody who does not read.
    pub watched_rounds: usize,
    /// Agents that wait at one hub for an answer given at another.
    pub node_waiters: usize,
    /// Messages in a store that is copied.
    pub copied: usize,
}

impl Settings {
    pub fn full(hub: HubOptions, seconds: u64) -> Self {
        Self {
            hub,
            window: Window {
                warm_up: Duration::from_millis(500),
                length: Duration::from_secs(seconds),
            },
            rounds: 4,
            sockets: 10_000,
            streams: 50_000,
            small: 10_000,
            large: 1_000_000,
            pushes: 20_000,
            hanging: 2_000,
            behind_inbox: 100_000,
            viewers: 1_000,
            shown: 200,
            cues: 100,
            idle: Duration::from_secs(5),
            waiting_runs: 1_000,
            watched_rounds: 8_000,
            node_waiters: 1_000,
            copied: 100_000,
        }
    }

    /// Finds mistakes, not figures.
    pub fn quick(hub: HubOptions) -> Self {
        Self {
            rounds: 1,
            sockets: 1_000,
            streams: 3_000,
            small: 3_000,
            large: 12_000,
            pushes: 2_000,
            hanging: 200,
            behind_inbox: 5_000,
            viewers: 100,
            shown: 20,
            cues: 10,
            idle: Duration::from_secs(2),
            waiting_runs: 100,
            watched_rounds: 4_000,
            node_waiters: 100,
            copied: 5_000,
            ..Self::full(hub, 1)
        }
    }
}
