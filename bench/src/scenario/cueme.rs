use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::Settings;
use crate::load::{Connection, Histogram, render};
use crate::process::{Cueme, Hub, Scratch, Terminal, Usage, rss_bytes, wait_until_idle};
use crate::report::{Figure, Goal};

/// Short compared with the measured time, and long enough to leave the machine to the two programs.
const POLL_INTERVAL: Duration = Duration::from_micros(200);
const VISIBLE_TIMEOUT: Duration = Duration::from_secs(10);
const MEBIBYTE: f64 = 1024.0 * 1024.0;
const ENVELOPE: &str = "<cueme_prompt>\nThe build is done. Shall I push?\n</cueme_prompt>\n<cueme_payload>\n\
     {\"type\": \"confirm\", \"confirm_label\": \"Push\", \"cancel_label\": \"Wait\"}\n</cueme_payload>\n";

/// An agent in a terminal that sends one request after the other.
struct Bench {
    hub: Hub,
    // Removed after the programs that use it have ended.
    _home: Scratch,
    terminal: Terminal,
    agent_id: String,
    envelope: PathBuf,
    /// Kept alive, like the connections of a person's page and tools.
    people: Connection,
    terminals: Connection,
}

/// Medians of one round, in milliseconds.
struct Round {
    process: f64,
    visible: f64,
    answered: f64,
    rss_mebibytes: f64,
}

/// The latency that `cueme` itself adds for an agent, and its memory and processor time while it waits for a person.
pub async fn run(settings: &Settings) -> Result<Vec<Figure>> {
    let mut bench = Bench::start(settings).await?;
    // A warm-up round: the first calls read the program from disk.
    bench.round(3).await?;
    let mut rounds = Vec::new();
    for _ in 0..settings.rounds {
        rounds.push(bench.round(settings.cues).await?);
    }
    let idle = bench.idle(settings.idle).await?;
    let each = |quantity: fn(&Round) -> f64| rounds.iter().map(quantity).collect::<Vec<f64>>();
    Ok(vec![
        Figure::single("start to request stored: p50", "ms", each(|round| round.visible))
            .against("cueme -v", each(|round| round.process))
            .goal(Goal::ValueAtMost(20.0)),
        Figure::single(
            "answer to first byte of stdout: p50",
            "ms",
            each(|round| round.answered),
        )
        .goal(Goal::ValueAtMost(10.0)),
        Figure::single("memory of a waiting cueme", "MiB", each(|round| round.rss_mebibytes))
            .goal(Goal::ValueAtMost(10.0)),
        Figure::single(
            format!("cpu of {} idle seconds", settings.idle.as_secs()),
            "ms",
            vec![idle],
        )
        .goal(Goal::ValueAtMost(0.0)),
    ])
}

impl Bench {
    async fn start(settings: &Settings) -> Result<Self> {
        let hub = Hub::start(&settings.hub).await?;
        let home = Scratch::new(&settings.hub.root, "cueme")?;
        let envelope = home.path().join("envelope");
        File::create(&envelope)?.write_all(ENVELOPE.as_bytes())?;
        let binary = settings
            .hub
            .binary
            .canonicalize()
            .context("no hub to measure")?
            .with_file_name("cueme");
        let terminal = Terminal {
            binary,
            home: home.path().to_owned(),
            data: hub.data(),
        };
        let (joined, _) = terminal.run(&["join", "bench", "--json"])?;
        let joined: Value = serde_json::from_str(&joined).context("cueme join printed no JSON")?;
        let agent_id = joined["agent_id"]
            .as_str()
            .context("cueme join gave no name")?
            .to_owned();
        let people = Connection::open(hub.target.address).await?;
        let terminals = Connection::open(hub.target.address).await?;
        Ok(Self {
            hub,
            _home: home,
            terminal,
            agent_id,
            envelope,
            people,
            terminals,
        })
    }

    async fn round(&mut self, cues: usize) -> Result<Round> {
        let [process, visible, answered] = <[Histogram; 3]>::default();
        let mut rss = 0;
        for _ in 0..cues {
            process.record(self.terminal.run(&["-v"])?.1);
            let (cueme, id, after) = self.ask().await?;
            visible.record(after);
            self.until_waiting(&id).await?;
            rss = rss.max(rss_bytes(cueme.pid())?);
            answered.record(self.answer(cueme, &id).await?);
        }
        let millis = |histogram: &Histogram| histogram.quantile(0.5).as_secs_f64() * 1e3;
        Ok(Round {
            process: millis(&process),
            visible: millis(&visible),
            answered: millis(&answered),
            rss_mebibytes: rss as f64 / MEBIBYTE,
        })
    }

    /// The processor time of a waiting `cueme`, in milliseconds.
    async fn idle(&mut self, span: Duration) -> Result<f64> {
        let (cueme, id, _) = self.ask().await?;
        self.until_waiting(&id).await?;
        wait_until_idle(cueme.pid()).await?;
        let before = Usage::of(cueme.pid())?.cpu;
        tokio::time::sleep(span).await;
        let used = Usage::of(cueme.pid())?.cpu.saturating_sub(before);
        self.answer(cueme, &id).await?;
        Ok(used.as_secs_f64() * 1e3)
    }

    /// Starts a `cueme` and returns the time until the hub has its request. All earlier requests are answered and
    /// collected.
    async fn ask(&mut self) -> Result<(Cueme, String, Duration)> {
        let path = format!("/v1/hap/agents/{}/current", self.agent_id);
        let request = render("GET", &path, Some(self.hub.terminal_token()), None);
        let envelope = File::open(&self.envelope)?;
        let cueme = self.terminal.start(&["cue", &self.agent_id, "-"], &envelope)?;
        loop {
            let reply = self.terminals.exchange(&request).await?;
            let after = cueme.started.elapsed();
            if reply.status != 404 {
                reply.expect(200)?;
                let found: Value = serde_json::from_slice(reply.body)?;
                let id = found["id"].as_str().context("a request without an id")?.to_owned();
                return Ok((cueme, id, after));
            }
            ensure!(after < VISIBLE_TIMEOUT, "no request within {VISIBLE_TIMEOUT:?}");
            // Not tokio's sleep, which has millisecond resolution.
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    /// Waits until the hub holds the long-poll of `cueme`.
    async fn until_waiting(&mut self, id: &str) -> Result<()> {
        let request = render("GET", &format!("/v1/inbox/{id}"), Some(self.hub.owner_token()), None);
        let until = Instant::now() + VISIBLE_TIMEOUT;
        loop {
            let reply = self.people.exchange(&request).await?;
            reply.expect(200)?;
            if serde_json::from_slice::<Value>(reply.body)?["waiting_now"] == true {
                return Ok(());
            }
            ensure!(
                Instant::now() < until,
                "cueme did not wait for {id} within {VISIBLE_TIMEOUT:?}"
            );
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    /// Returns the time from sending the person's answer to the first byte that the agent can read.
    async fn answer(&mut self, cueme: Cueme, id: &str) -> Result<Duration> {
        let answer = json!({"resolution": "answered", "value": "approve"}).to_string();
        let path = format!("/v1/messages/{id}/resolve");
        let request = render("POST", &path, Some(self.hub.owner_token()), Some(&answer));
        let answered = Instant::now();
        self.people.exchange(&request).await?.expect(200)?;
        let printed = cueme.finish()?;
        ensure!(
            printed.text.contains("Push"),
            "cueme printed something else: {}",
            printed.text
        );
        Ok(printed.at.duration_since(answered))
    }
}
