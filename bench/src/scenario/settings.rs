use std::time::Duration;

use crate::load::Window;
use crate::process::HubOptions;

/// The sizes and durations of all scenarios.
pub struct Settings {
    pub hub: HubOptions,
    pub window: Window,
    /// How often each side of a pair is measured.
    pub rounds: usize,
    /// Agents that wait, each on its own socket.
    pub sockets: usize,
    /// Agents that wait, each on its own HTTP/2 stream.
    pub streams: usize,
    /// Messages in the small and in the large store.
    pub small: usize,
    pub large: usize,
    /// Pushes to a receiver that answers, and to one that hangs.
    pub pushes: usize,
    pub hanging: usize,
    /// Messages in the store of the inbox scenario.
    pub behind_inbox: usize,
    /// Concurrent viewers of the inbox, and the number of items they are shown.
    pub viewers: usize,
    pub shown: usize,
    /// Requests of a terminal agent per round, and how long the idle usage of a waiting one is measured.
    pub cues: usize,
    pub idle: Duration,
    /// Runs that wait for a person at the same time.
    pub waiting_runs: usize,
    /// Rounds of a run with a subscriber that does not read.
    pub watched_rounds: usize,
    /// Agents that wait at one hub for an answer given at another hub.
    pub node_waiters: usize,
    /// Messages in the store that is copied.
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

    /// Small sizes that show whether everything works; the figures mean nothing.
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
