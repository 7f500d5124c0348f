//! One hub process with a data directory of its own.

use std::ops::Deref;
use std::path::PathBuf;
use std::process::ExitStatus;

use serde_json::{Value, json};

use super::{Api, CommandOutput, Database, Process, Scratch, countersign, eventually};

const DATABASE_URL: &str = "COUNTERSIGN_DATABASE_URL";

/// How a hub is to be started.
#[derive(Default)]
pub struct Setup {
    config: Option<String>,
    args: Vec<String>,
    envs: Vec<(String, String)>,
    default_address: bool,
}

impl Setup {
    pub fn config(mut self, toml: &str) -> Self {
        self.config = Some(toml.to_owned());
        self
    }

    pub fn args(mut self, args: &[&str]) -> Self {
        self.args.extend(args.iter().map(|&arg| arg.to_owned()));
        self
    }

    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.envs.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Leaves out `--listen`.
    pub fn on_the_default_address(mut self) -> Self {
        self.default_address = true;
        self
    }

    /// Callbacks to this machine are allowed, and a failed one is repeated at once.
    pub fn pushing() -> Self {
        Self::default()
            .args(&["--allow-loopback-callbacks"])
            .config("[push]\nfirst_retry_ms = 20\n")
    }

    /// Remembers there instead of in its data directory.
    pub fn database_url(self, database_url: &str) -> Self {
        self.env(DATABASE_URL, database_url)
    }

    pub async fn start(mut self) -> Hub {
        let database = match self.wants_database() {
            true => Some(Database::create().await),
            false => None,
        };
        if let Some(database) = &database {
            self = self.database_url(&database.url());
        }
        let scratch = Scratch::new();
        let process = self.spawn(&scratch, "127.0.0.1:0");
        let (process, url, owner) = ready(process, &scratch).await;
        Hub {
            setup: self,
            scratch,
            process,
            url,
            owner,
            _database: database,
        }
    }

    /// The same promises hold on PostgreSQL: with this variable every hub that names no database gets one of its own there.
    fn wants_database(&self) -> bool {
        let is_named = self.envs.iter().any(|(name, _)| name == DATABASE_URL)
            || self.args.iter().any(|arg| arg == "--database-url")
            || self
                .config
                .as_ref()
                .is_some_and(|config| config.contains("database_url"));
        std::env::var_os("COUNTERSIGN_TEST_ON_POSTGRES").is_some() && !is_named
    }

    /// Starts what must not start, and returns what it said.
    pub fn refused(self) -> CommandOutput {
        let scratch = Scratch::new();
        self.spawn(&scratch, "127.0.0.1:0").finish()
    }

    fn spawn(&self, scratch: &Scratch, listen: &str) -> Process {
        let mut command = countersign(&scratch.home());
        command.arg("serve").arg("--data").arg(scratch.data());
        let listens = self.default_address || self.args.iter().any(|arg| arg == "--listen");
        if !listens {
            command.args(["--listen", listen]);
        }
        if let Some(config) = &self.config {
            command.arg("--config").arg(scratch.write("config.toml", config));
        }
        command.args(&self.args).envs(self.envs.iter().cloned());
        Process::spawn(command, "")
    }
}

/// Waits for the `hub.json` of this very process (a killed one leaves its own behind) and for the first reply.
async fn ready(mut process: Process, scratch: &Scratch) -> (Process, String, Api) {
    let path = scratch.data().join("hub.json");
    let found = eventually("the hub is ready", async || {
        assert!(
            process.exited().is_none(),
            "the hub did not start: {}",
            process.output()
        );
        let text = std::fs::read_to_string(&path).ok()?;
        let found: Value = serde_json::from_str(&text).ok()?;
        (found["pid"] == process.id()).then_some(found)
    })
    .await;
    let url = found["url"].as_str().expect("a url in hub.json").to_owned();
    let anonymous = Api::anonymous(&url);
    anonymous.healthy().await;
    let owner = anonymous.bearer(found["token"].as_str().expect("a token in hub.json"));
    (process, url, owner)
}

pub struct Hub {
    setup: Setup,
    scratch: Scratch,
    process: Process,
    pub url: String,
    pub owner: Api,
    /// Goes after the hub has gone.
    _database: Option<Database>,
}

impl Hub {
    pub async fn start() -> Self {
        Setup::default().start().await
    }

    pub fn process(&self) -> &Process {
        &self.process
    }

    pub fn data(&self) -> PathBuf {
        self.scratch.data()
    }

    pub fn scratch(&self) -> &Scratch {
        &self.scratch
    }

    /// Whether its runs may start programs.
    pub fn starts_programs(&self) -> bool {
        self.setup
            .config
            .as_ref()
            .is_some_and(|config| config.contains("commands = \"a"))
    }

    /// The owner's, for programs of this machine.
    pub fn token(&self) -> String {
        let note = std::fs::read_to_string(self.data().join("hub.json")).expect("hub.json is there");
        text(&serde_json::from_str(&note).expect("it is JSON"), "token")
    }

    pub fn anonymous(&self) -> Api {
        Api::anonymous(&self.url)
    }

    pub fn kill(&mut self) {
        self.process.kill();
    }

    /// Stops where it is, in the middle of whatever it does, until it is woken.
    pub fn freeze(&self) {
        self.process.signal("STOP");
    }

    pub fn thaw(&self) {
        self.process.signal("CONT");
    }

    pub fn interrupt(&mut self) -> ExitStatus {
        self.process.signal("INT");
        self.process.join()
    }

    /// Waits for a hub that was told to stop. The scratch directory comes along, so that it can still be looked into.
    pub fn into_finished(self) -> (CommandOutput, Scratch) {
        (self.process.finish(), self.scratch)
    }

    /// Comes back on the same data and the same port.
    pub async fn restart(&mut self) {
        let address = self.url.trim_start_matches("http://").to_owned();
        let process = self.setup.spawn(&self.scratch, &address);
        let (process, url, owner) = ready(process, &self.scratch).await;
        assert_eq!(url, self.url, "the same address after a restart");
        (self.process, self.owner) = (process, owner);
    }

    pub fn cli(&self, args: &[&str]) -> CommandOutput {
        self.cli_with_input(args, "")
    }

    pub fn cli_with_input(&self, args: &[&str], input: &str) -> CommandOutput {
        let mut command = countersign(&self.scratch.home());
        command.args(args).arg("--data").arg(self.data());
        Process::spawn(command, input).finish()
    }

    pub async fn agent(&self, id: &str) -> Agent {
        self.agent_signed_by(id, "hmac-sha256").await
    }

    pub async fn agent_signed_by(&self, id: &str, signature_alg: &str) -> Agent {
        let made = self
            .owner
            .post("/v1/admin/agents", &json!({"id": id, "signature_alg": signature_alg}))
            .await;
        let made = made.expect(201);
        let token = text(&made, "token");
        let api = self.anonymous().bearer(&token);
        Agent {
            id: id.to_owned(),
            token,
            signing_key: text(&made, "signing_key"),
            api,
        }
    }

    pub async fn person(&self, name: &str, role: &str) -> Person {
        let made = self
            .owner
            .post("/v1/admin/people", &json!({"name": name, "role": role}))
            .await
            .expect(201);
        let token = text(&made, "token");
        let api = self.anonymous().bearer(&token);
        Person {
            actor: text(&made, "actor"),
            token,
            api,
        }
    }

    pub async fn approve(&self, agent: &Agent, host: &str) {
        let body = json!({"agent_id": agent.id, "host": host});
        self.owner.post("/v1/admin/callbacks/approve", &body).await.expect(200);
    }

    /// The delivery of `message_id` once it is in `state`.
    pub async fn delivery(&self, message_id: &str, state: &str) -> Value {
        eventually(&format!("delivery of {message_id} is {state}"), async || {
            let listed = self.owner.get("/v1/admin/deliveries?limit=200").await.expect(200);
            let all = listed["deliveries"].as_array().cloned().unwrap_or_default();
            all.into_iter()
                .find(|one| one["message_id"] == message_id && one["state"] == state)
        })
        .await
    }
}

fn text(object: &Value, key: &str) -> String {
    object[key]
        .as_str()
        .unwrap_or_else(|| panic!("a text {key:?} in {object}"))
        .to_owned()
}

pub struct Agent {
    pub id: String,
    pub token: String,
    pub signing_key: String,
    api: Api,
}

impl Agent {
    /// The same agent, calling another hub.
    pub fn at(&self, hub: &Hub) -> Api {
        hub.anonymous().bearer(&self.token)
    }
}

impl Deref for Agent {
    type Target = Api;

    fn deref(&self) -> &Api {
        &self.api
    }
}

pub struct Person {
    pub actor: String,
    pub token: String,
    api: Api,
}

impl Deref for Person {
    type Target = Api;

    fn deref(&self) -> &Api {
        &self.api
    }
}
