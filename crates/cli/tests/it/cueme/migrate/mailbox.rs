//! A mailbox of the original cueme, as each of its programs creates it.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, params};

use crate::harness::*;

const META: &str = "CREATE TABLE schema_meta (key TEXT PRIMARY KEY, value TEXT);
INSERT INTO schema_meta VALUES ('schema_version', '3');";

const ORIGINAL: &str = "CREATE TABLE cue_requests (id INTEGER PRIMARY KEY AUTOINCREMENT, request_id TEXT UNIQUE, agent_id TEXT,
  prompt TEXT NOT NULL, payload TEXT, status TEXT, created_at TEXT, updated_at TEXT);
CREATE TABLE cue_responses (id INTEGER PRIMARY KEY AUTOINCREMENT, request_id TEXT UNIQUE, response_json TEXT NOT NULL,
  cancelled INTEGER DEFAULT 0, created_at TEXT);
CREATE TABLE cue_files (id INTEGER PRIMARY KEY AUTOINCREMENT, sha256 TEXT UNIQUE, file TEXT, mime_type TEXT,
  size_bytes INTEGER, created_at TEXT);
CREATE TABLE cue_response_files (response_id INTEGER, idx INTEGER, file_id INTEGER, PRIMARY KEY (response_id, idx));
CREATE TABLE agent_envs (agent_id TEXT PRIMARY KEY, agent_runtime TEXT, project_dir TEXT, agent_terminal TEXT, updated_at TEXT);";

const CONSOLE: &str = "CREATE TABLE cue_requests (id INTEGER PRIMARY KEY AUTOINCREMENT, request_id TEXT UNIQUE NOT NULL,
  agent_id TEXT NOT NULL, prompt TEXT NOT NULL, payload TEXT, status TEXT NOT NULL, created_at DATETIME NOT NULL,
  updated_at DATETIME NOT NULL);
CREATE TABLE cue_responses (id INTEGER PRIMARY KEY AUTOINCREMENT, request_id TEXT UNIQUE NOT NULL, response_json TEXT NOT NULL,
  cancelled BOOLEAN NOT NULL DEFAULT 0, created_at DATETIME NOT NULL,
  FOREIGN KEY (request_id) REFERENCES cue_requests(request_id));
CREATE TABLE groups (id TEXT PRIMARY KEY, name TEXT);";

const SERVER: &str = "CREATE TABLE cue_requests (id INTEGER NOT NULL, request_id VARCHAR NOT NULL, agent_id VARCHAR NOT NULL,
  prompt VARCHAR NOT NULL, payload TEXT, status VARCHAR(9) NOT NULL, created_at DATETIME NOT NULL, updated_at DATETIME NOT NULL,
  PRIMARY KEY (id));
CREATE TABLE cue_responses (id INTEGER NOT NULL, request_id VARCHAR NOT NULL, response_json TEXT, cancelled BOOLEAN NOT NULL,
  created_at DATETIME NOT NULL, PRIMARY KEY (id));";

/// The fewest columns a mailbox can have.
const BARE: &str = "CREATE TABLE cue_requests (request_id TEXT, agent_id TEXT, prompt TEXT);
CREATE TABLE cue_responses (request_id TEXT, response_json TEXT);";

pub struct Mailbox {
    pub home: PathBuf,
    connection: Connection,
    pub has_times: bool,
}

/// The timestamp this many minutes from now.
pub fn at(minutes: i64) -> String {
    from_now(minutes * 60_000)
}

impl Mailbox {
    pub fn of_the_original(hub: &Hub) -> Self {
        Self::created(hub, &format!("{META}{ORIGINAL}"))
    }

    pub fn of_the_console(hub: &Hub) -> Self {
        Self::created(hub, &format!("{META}{CONSOLE}"))
    }

    /// The MCP server's mailbox, which has no schema version.
    pub fn of_the_server(hub: &Hub) -> Self {
        Self::created(hub, SERVER)
    }

    pub fn bare(hub: &Hub) -> Self {
        Self {
            has_times: false,
            ..Self::created(hub, BARE)
        }
    }

    /// A mailbox in a directory with unrelated files.
    pub fn planted(home: &Path) -> Self {
        Self::in_directory(home, &format!("{META}{ORIGINAL}"))
    }

    fn created(hub: &Hub, tables: &str) -> Self {
        Self::in_directory(&hub.scratch().home().join(".cue"), tables)
    }

    pub fn in_directory(home: &Path, tables: &str) -> Self {
        fs::create_dir_all(home.join("files")).expect("make the directory");
        let connection = Connection::open(home.join("cue.db")).expect("a database");
        connection.execute_batch("PRAGMA foreign_keys = OFF").expect("set");
        connection
            .execute_batch(if tables.is_empty() { META } else { tables })
            .expect("make the tables");
        Self {
            home: home.to_owned(),
            connection,
            has_times: true,
        }
    }

    pub fn set_version(&self, version: &str) {
        self.connection
            .execute("UPDATE schema_meta SET value = ?1", [version])
            .expect("set the version");
    }

    pub fn request(&self, id: &str, agent: &str, prompt: &str, payload: Option<&str>, state: (&str, &str)) {
        let (status, at) = state;
        let done = if self.has_times {
            const INSERT: &str = "INSERT INTO cue_requests (request_id, agent_id, prompt, payload, status, created_at, \
                 updated_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6)";
            self.connection
                .execute(INSERT, params![id, agent, prompt, payload, status, at])
        } else {
            const INSERT: &str = "INSERT INTO cue_requests (request_id, agent_id, prompt) VALUES (?1, ?2, ?3)";
            self.connection.execute(INSERT, params![id, agent, prompt])
        };
        done.expect("put a request");
    }

    pub fn answer(&self, number: i64, request: &str, json: &str, cancelled: i64, at: &str) {
        let done = if self.has_times {
            const INSERT: &str = "INSERT INTO cue_responses (id, request_id, response_json, cancelled, created_at) \
                 VALUES (?1, ?2, ?3, ?4, ?5)";
            self.connection
                .execute(INSERT, params![number, request, json, cancelled, at])
        } else {
            const INSERT: &str = "INSERT INTO cue_responses (request_id, response_json) VALUES (?1, ?2)";
            self.connection.execute(INSERT, params![request, json])
        };
        done.expect("put an answer");
    }

    /// A file of an answer; without a body only its row.
    pub fn file(&self, answer: i64, index: i64, file: &str, media_type: &str, body: Option<&str>) {
        const INSERT: &str = "INSERT INTO cue_files (sha256, file, mime_type) VALUES (?1, ?1, ?2)";
        self.connection.execute(INSERT, [file, media_type]).expect("put a file");
        const LINK: &str = "INSERT INTO cue_response_files (response_id, idx, file_id) VALUES (?1, ?2, ?3)";
        self.connection
            .execute(LINK, params![answer, index, self.connection.last_insert_rowid()])
            .expect("link it");
        if let Some(body) = body {
            fs::write(self.home.join(file), body).expect("write the file");
        }
    }

    pub fn agent(&self, id: &str, runtime: &str, project_dir: &str, terminal: &str) {
        const INSERT: &str = "INSERT INTO agent_envs VALUES (?1, ?2, ?3, ?4, '')";
        self.connection
            .execute(INSERT, [id, runtime, project_dir, terminal])
            .expect("put an agent");
    }

    /// Adds `count` requests; the last ten are open.
    pub fn fill(&self, count: i64) {
        self.connection.execute_batch("BEGIN").expect("begin");
        for number in 0..count {
            let id = format!("req_{number:012x}");
            let asked = at(number / 60 - count / 60 - 10);
            let is_open = number >= count - 10;
            let status = if is_open { "PENDING" } else { "COMPLETED" };
            self.request(
                &id,
                "kivuron",
                &format!("Number {number}\n\nand some more words"),
                None,
                (status, &asked),
            );
            if !is_open {
                self.answer(number + 1, &id, r#"{"text":"go on"}"#, 0, &asked);
            }
        }
        self.connection.execute_batch("COMMIT").expect("commit");
    }

    /// Switches to WAL mode and closes the database, as the console leaves it.
    pub fn set_wal_mode(&self) {
        let writer = Connection::open(self.home.join("cue.db")).expect("a database");
        writer.pragma_update(None, "journal_mode", "wal").expect("set the mode");
    }

    /// A program that has the mailbox open and has just written to it.
    pub fn writing(&self, statement: &str) -> Connection {
        let writer = Connection::open(self.home.join("cue.db")).expect("a database");
        writer.execute_batch(statement).expect("write");
        writer
    }
}
