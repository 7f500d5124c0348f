//! A hub process with its own data directory.

use std::fs::File;
use std::ops::Deref;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;

use countersign_store::Store;
use countersign_store::clock::{DatabaseClock, SystemClock};
use serde_json::{Value, json};

use super::{Api, CommandOutput, Database, Process, Scratch, countersign, eventually};

const DATABASE_URL: &str = "COUNTERSIGN_DATABASE_URL";

/// The configuration, arguments and environment of a hub to start.
#[derive(Default)]
pub struct Setup {
    config: Option<String>,
    args: Vec<String>,
    envs: Vec<(String, String)>,
    default_address: bool,
    stderr: Option<File>,
    shell: Option<&'static str>,
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

    /// Gives the hub this file, pipe or device as its standard error.
    pub fn stderr(mut self, file: impl Into<File>) -> Self {
        self.stderr = Some(file.into());
        self
    }

    /// Starts the hub from a shell that runs this line; its last command has to be `exec "$@"`.
    pub fn shell(mut self, line: &'static str) -> Self {
        self.shell = Some(line);
        self
    }

    /// Leaves out `--listen`.
    pub fn on_the_default_address(mut self) -> Self {
        self.default_address = true;
        self
    }

    /// Allows callbacks to loopback addresses and retries failed pushes after 20 ms.
    pub fn pushing() -> Self {
        Self::default()
            .args(&["--allow-loopback-callbacks"])
            .config("[push]\nfirst_retry_ms = 20\n")
    }

    /// Stores data in this PostgreSQL database instead of the data directory.
    pub fn database_url(self, database_url: &str) -> Self {
        self.env(DATABASE_URL, database_url)
    }

    pub async fn start(self) -> Hub {
        self.start_in(Scratch::new()).await
    }

    /// Starts on a data directory that is there already.
    pub async fn start_in(self, scratch: Scratch) -> Hub {
        let database = match self.wants_database() {
            true => Some(Database::create().await),
            false => None,
        };
        self.start_with(scratch, database).await
    }

    async fn start_with(mut self, scratch: Scratch, database: Option<Database>) -> Hub {
        if let Some(database) = &database {
            self = self.database_url(&database.url());
        }
        self.config = Some(without_undo(self.config.take().unwrap_or_default()));
        let process = self.spawn(&scratch, "127.0.0.1:0");
        let (process, url, owner) = ready(process, &scratch).await;
        Hub {
            setup: self,
            scratch,
            process,
            url,
            owner,
            database,
        }
    }

    /// Starts another hub on the data of one that has stopped.
    pub async fn start_again(self, stopped: Hub) -> Hub {
        self.start_with(stopped.scratch, stopped.database).await
    }

    /// With `COUNTERSIGN_TEST_ON_POSTGRES`, a hub without a database setting gets a fresh PostgreSQL database.
    fn wants_database(&self) -> bool {
        let is_named = self.envs.iter().any(|(name, _)| name == DATABASE_URL)
            || self.args.iter().any(|arg| arg == "--database-url")
            || self
                .config
                .as_ref()
                .is_some_and(|config| config.contains("database_url"));
        std::env::var_os("COUNTERSIGN_TEST_ON_POSTGRES").is_some() && !is_named
    }

    /// Starts a hub that must refuse to start, and returns its output.
    pub fn refused(self) -> CommandOutput {
        self.refused_in(&Scratch::new())
    }

    pub fn refused_in(self, scratch: &Scratch) -> CommandOutput {
        self.spawn(scratch, "127.0.0.1:0").finish()
    }

    /// Starts the process without waiting for it.
    pub fn spawn(&self, scratch: &Scratch, listen: &str) -> Process {
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
        if let Some(line) = self.shell {
            command = in_shell(&command, line);
        }
        match &self.stderr {
            None => Process::spawn(command, ""),
            Some(file) => {
                command.stdin(Stdio::null());
                Process::start_with_stderr(command, file.try_clone().expect("another handle").into())
            }
        }
    }
}

/// Decisions take effect at once, except in tests that set an undo time.
fn without_undo(config: String) -> String {
    if config.contains("undo_seconds") {
        config
    } else {
        format!("undo_seconds = 0\n{config}")
    }
}

/// Waits for the `hub.json` of this process (a killed hub leaves its own behind) and for a healthy reply.
pub async fn ready(mut process: Process, scratch: &Scratch) -> (Process, String, Api) {
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

fn in_shell(command: &Command, line: &str) -> Command {
    let mut shell = Command::new("sh");
    shell
        .args(["-c", line, "sh"])
        .arg(command.get_program())
        .args(command.get_args())
        .env_clear()
        .envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell
}

pub struct Hub {
    setup: Setup,
    scratch: Scratch,
    process: Process,
    pub url: String,
    pub owner: Api,
    /// With `COUNTERSIGN_TEST_ON_POSTGRES`. Dropped after the hub process.
    database: Option<Database>,
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

    /// Whether the hub's config lets runs start programs or call models, which makes a token necessary.
    pub fn needs_token(&self) -> bool {
        self.setup
            .config
            .as_ref()
            .is_some_and(|config| config.contains("commands = \"a") || config.contains("[llm"))
    }

    /// The owner's token from `hub.json`, meant for programs on the same machine.
    pub fn token(&self) -> String {
        let note = std::fs::read_to_string(self.data().join("hub.json")).expect("hub.json is there");
        text(&serde_json::from_str(&note).expect("it is JSON"), "token")
    }

    /// The store of this hub, opened a second time.
    pub async fn open_store(&self) -> Store {
        match &self.database {
            Some(database) => Store::open_postgres(&database.url(), Arc::new(DatabaseClock::default())).await,
            None => Store::open_sqlite(&self.data().join("hub.db"), Arc::new(SystemClock)),
        }
        .expect("the hub's store")
    }

    /// Changes the hub's database behind its back. Returns the number of changed rows.
    pub async fn execute(&self, sql: &str) -> u64 {
        match &self.database {
            Some(database) => database.connect().await.execute(sql, &[]).await.expect(sql),
            None => rusqlite::Connection::open(self.data().join("hub.db"))
                .and_then(|database| database.execute(sql, []))
                .expect(sql) as u64,
        }
    }

    pub fn anonymous(&self) -> Api {
        Api::anonymous(&self.url)
    }

    pub fn kill(&mut self) {
        self.process.kill();
    }

    /// Suspends the process with SIGSTOP until `thaw`.
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

    /// Waits for a stopping hub to exit. Returns the scratch directory too, so that a test can inspect it.
    pub fn into_finished(self) -> (CommandOutput, Scratch) {
        (self.process.finish(), self.scratch)
    }

    /// Starts the hub again on the same data directory and port.
    pub async fn restart(&mut self) {
        let address = self.url.trim_start_matches("http://").to_owned();
        let process = self.setup.spawn(&self.scratch, &address);
        let (process, url, owner) = ready(process, &self.scratch).await;
        assert_eq!(url, self.url, "the same address after a restart");
        (self.process, self.owner) = (process, owner);
    }

    /// Starts the hub again on the same data directory and another port.
    pub async fn restart_elsewhere(&mut self) {
        let process = self.setup.spawn(&self.scratch, "127.0.0.1:0");
        let (process, url, owner) = ready(process, &self.scratch).await;
        (self.process, self.url, self.owner) = (process, url, owner);
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

    /// Waits until the delivery of `message_id` is in `state`, and returns it.
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
    /// The same agent as a client of another hub.
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
