//! `demo`: six agents that ask at a hub on this machine and react to the answers. They ask as any agent does, through
//! the SDK and a run, and are removed at the end.

mod agent;
mod hub;
mod run;
mod scenes;

use std::time::Duration;

use agent::DemoAgent;
use anyhow::{Context, Result};
use countersign_agent::{Identity, Journal};
use countersign_client::hub::{AddressSource, HubClient, typed};
use countersign_client::screen;
use countersign_client::stop_signals::StopSignals;
use countersign_config::browser_url;
use countersign_protocol::api::admin::ListedPerson;
use futures_util::future::{try_join, try_join_all};
use hub::DemoHub;
use run::DemoRun;
use scenes::{SCENES, Scene};
use tokio::time::sleep;

use super::Finished;
use super::local_hub::owner_among;
use super::smoke::ScratchDir;
use crate::args::{DemoArgs, Globals};

/// A demo that is left alone ends after some hours.
const MAX_ROUNDS: u32 = 20;
/// Between two messages of an agent.
const ROUND_PAUSE: Duration = Duration::from_secs(20);
/// A notice needs no answer, so its agent would fill the list.
const NOTICE_PAUSE: Duration = Duration::from_secs(300);
const RUN_AGENT: &str = "demo/release-notes";

pub async fn run(args: &DemoArgs, globals: &Globals) -> Result<Finished> {
    let mut stops = StopSignals::new()?;
    let scratch = ScratchDir::new(&format!("demo-{}", Identity::new("demo").run_id))?;
    let hub = DemoHub::find_or_start(globals, &scratch).await?;
    let demo = Demo::prepare(&hub, &scratch, args.once).await?;
    screen::print_notice(&format!(
        "Six agents ask now. Answer them at {}/inbox or with `countersign inbox{}`; Ctrl-C ends the demo.",
        browser_url(&hub.owner.location().shown_url()),
        data_flag(&hub, globals),
    ));
    let played = tokio::select! {
        played = demo.play(&scratch) => played,
        () = stops.any() => Ok(()),
    };
    // The data of a temporary hub goes away as a whole.
    let cleaned = if hub.is_temporary() {
        Ok(())
    } else {
        demo.clean_up().await
    };
    hub.stop().await?;
    played.and(cleaned)?;
    Ok(Finished::ok(
        "The demo has ended. Its agents are removed; what they asked is in the history.\n".to_owned(),
    ))
}

fn data_flag(hub: &DemoHub, globals: &Globals) -> String {
    match (&hub.owner.location().source, &globals.data) {
        (AddressSource::DataDirectory(data), _) if hub.is_temporary() => format!(" --data {}", data.display()),
        (_, Some(data)) => format!(" --data {}", data.display()),
        (_, None) => String::new(),
    }
}

struct Demo<'a> {
    owner: &'a HubClient,
    person: String,
    agents: Vec<(DemoAgent, Scene)>,
    run: DemoRun<'a>,
    run_agent: DemoAgent,
    rounds: u32,
}

impl<'a> Demo<'a> {
    async fn prepare(hub: &'a DemoHub, scratch: &ScratchDir, once: bool) -> Result<Self> {
        let owner = &hub.owner;
        let people = owner.get_field(&["v1", "admin", "people"], &[], "people").await?;
        let people: Vec<ListedPerson> = typed(&people)?;
        let person = owner_among(&people).context("the hub has no owner who could answer")?;
        let journal = Journal::open(&scratch.path("journal.db"))?;
        let mut agents = Vec::new();
        for scene in SCENES {
            agents.push((
                DemoAgent::add(scene.agent, scene.project, owner, &journal).await?,
                scene,
            ));
        }
        Ok(Self {
            owner,
            person: person.to_owned(),
            agents,
            run: DemoRun::new(owner, hub.is_temporary()),
            run_agent: DemoAgent::add(RUN_AGENT, "shop", owner, &journal).await?,
            rounds: if once { 1 } else { MAX_ROUNDS },
        })
    }

    async fn play(&self, scratch: &ScratchDir) -> Result<()> {
        let agents = self.agents.iter().map(|(agent, scene)| self.play_scene(agent, scene));
        try_join(try_join_all(agents), self.play_run(scratch)).await?;
        Ok(())
    }

    async fn play_scene(&self, agent: &DemoAgent, scene: &Scene) -> Result<()> {
        for round in 1..=self.rounds {
            let message = (scene.message)(round, super::agent_commands::now());
            let pause = match agent.send(message, &self.person).await? {
                Some(outcome) => {
                    let (title, body) = (scene.reaction)(&outcome);
                    agent.tell(&title, &body).await?;
                    ROUND_PAUSE
                }
                None => NOTICE_PAUSE,
            };
            if round < self.rounds {
                sleep(pause).await;
            }
        }
        Ok(())
    }

    async fn play_run(&self, scratch: &ScratchDir) -> Result<()> {
        for round in 1..=self.rounds {
            let title = match self.run.play(scratch).await?.as_str() {
                "completed" => "The release notes are published",
                _ => "The release notes are not published",
            };
            self.run_agent
                .tell(title, "The run has ended. Its page shows every step.")
                .await?;
            if round < self.rounds {
                sleep(ROUND_PAUSE).await;
            }
        }
        Ok(())
    }

    /// Everything is tried, so that a failure leaves as little as possible behind.
    async fn clean_up(&self) -> Result<()> {
        let mut result = self.run.stop().await;
        for agent in self.agents.iter().map(|(agent, _)| agent).chain([&self.run_agent]) {
            result = result.and(agent.remove(self.owner).await);
        }
        result
    }
}
