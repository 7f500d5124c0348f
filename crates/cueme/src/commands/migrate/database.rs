//! The mailbox: its version, and its tables by whoever made them. Each look is short, so that a program that still writes
//! there is not held up.

use std::path::Path;

use countersign_protocol::time::Timestamp;
use rusqlite::{Connection, OptionalExtension, Params, Row};

use super::attach;
use super::open::{self, Patience};
use super::request::instant;
use super::rows::{AgentRow, AnswerRow, FileRow, RequestRow, flag, needed, text};
use crate::failure::Failure;

const VERSION: &str = "3";
/// More than anybody has asked.
const MOST_ROWS: usize = 1_000_000;

#[derive(Debug)]
pub struct Database {
    connection: Connection,
    patience: Patience,
    /// Of each of the tables below.
    columns: [Vec<String>; 5],
}

const TABLES: [&str; 5] = [
    "cue_requests",
    "cue_responses",
    "cue_files",
    "cue_response_files",
    "agent_envs",
];
const REQUESTS: usize = 0;
const RESPONSES: usize = 1;
const FILES: usize = 2;
const RESPONSE_FILES: usize = 3;
const ENVS: usize = 4;

impl Database {
    pub fn open(path: &Path) -> Result<Self, Failure> {
        let (connection, patience) = open::open(path)?;
        let shown = path.display();
        let unreadable = |error: rusqlite::Error| Failure::failed(&format!("{shown} cannot be read: {error}"));
        check_version(&connection, path)?;
        let mut columns: [Vec<String>; 5] = Default::default();
        for (table, columns) in TABLES.iter().zip(&mut columns) {
            *columns = columns_of(&connection, table).map_err(unreadable)?;
        }
        let database = Self {
            connection,
            patience,
            columns,
        };
        let needed = ["request_id", "agent_id", "prompt"];
        if needed.iter().any(|column| !database.has(REQUESTS, column)) {
            let told = format!(
                "{shown} is no mailbox of cueme: it has no cue_requests with {}",
                needed.join(", ")
            );
            return Err(Failure::failed(&told));
        }
        Ok(database)
    }

    pub fn agents(&self) -> rusqlite::Result<Vec<AgentRow>> {
        if !self.has(ENVS, "agent_id") {
            return Ok(Vec::new());
        }
        let columns = self.select(ENVS, &["agent_id", "agent_runtime", "project_dir", "agent_terminal"]);
        let query = format!("SELECT {columns} FROM agent_envs ORDER BY rowid LIMIT {MOST_ROWS}");
        self.all(&query, [], |row| {
            Ok(AgentRow {
                agent_id: needed(row, 0)?,
                runtime: text(row, 1)?,
                project_dir: text(row, 2)?,
                terminal: text(row, 3)?,
            })
        })
    }

    /// Where each request stands, oldest first. Times are compared as instants: as texts, two writers' do not sort.
    pub fn requests(&self) -> rusqlite::Result<Vec<i64>> {
        let columns = self.select(REQUESTS, &["created_at"]);
        let query = format!("SELECT rowid, {columns} FROM cue_requests LIMIT {MOST_ROWS}");
        let mut places: Vec<(Option<Timestamp>, i64)> = self.all(&query, [], |row| {
            Ok((text(row, 1)?.as_deref().and_then(instant), row.get(0)?))
        })?;
        places.sort_unstable();
        Ok(places.into_iter().map(|(_, place)| place).collect())
    }

    /// Nothing when it was deleted meanwhile.
    pub fn request(&self, place: i64) -> rusqlite::Result<Option<RequestRow>> {
        let wanted = [
            "request_id",
            "agent_id",
            "prompt",
            "payload",
            "status",
            "created_at",
            "updated_at",
        ];
        let query = format!(
            "SELECT {} FROM cue_requests WHERE rowid = ?1",
            self.select(REQUESTS, &wanted)
        );
        self.one(&query, [place], |row| {
            Ok(RequestRow {
                request_id: needed(row, 0)?,
                agent_id: needed(row, 1)?,
                prompt: needed(row, 2)?,
                payload: text(row, 3)?,
                status: text(row, 4)?,
                created_at: text(row, 5)?,
                updated_at: text(row, 6)?,
            })
        })
    }

    pub fn answer(&self, request_id: &str) -> rusqlite::Result<Option<AnswerRow>> {
        if !self.has(RESPONSES, "request_id") {
            return Ok(None);
        }
        let columns = self.select(RESPONSES, &["response_json", "cancelled", "created_at"]);
        let query = format!("SELECT rowid, {columns} FROM cue_responses WHERE request_id = ?1 ORDER BY rowid LIMIT 1");
        self.one(&query, [request_id], |row| {
            Ok(AnswerRow {
                number: row.get(0)?,
                response_json: text(row, 1)?,
                cancelled: flag(row, 2)?,
                created_at: text(row, 3)?,
            })
        })
    }

    pub fn files(&self, answer: i64) -> rusqlite::Result<Vec<FileRow>> {
        let links = ["response_id", "file_id"];
        if !self.has(FILES, "file") || links.iter().any(|link| !self.has(RESPONSE_FILES, link)) {
            return Ok(Vec::new());
        }
        let order = if self.has(RESPONSE_FILES, "idx") {
            "r.idx"
        } else {
            "r.rowid"
        };
        let kind = if self.has(FILES, "mime_type") {
            "f.mime_type"
        } else {
            "NULL"
        };
        let query = format!(
            "SELECT f.file, {kind} FROM cue_response_files r JOIN cue_files f ON f.rowid = r.file_id \
             WHERE r.response_id = ?1 ORDER BY {order} LIMIT {}",
            attach::MOST_LISTED
        );
        self.all(&query, [answer], |row| {
            Ok(FileRow {
                file: needed(row, 0)?,
                mime_type: text(row, 1)?,
            })
        })
    }

    /// Answers whose request somebody deleted.
    pub fn orphans(&self) -> rusqlite::Result<u64> {
        if !self.has(RESPONSES, "request_id") {
            return Ok(0);
        }
        const COUNT: &str = "SELECT COUNT(*) FROM cue_responses r \
             WHERE NOT EXISTS (SELECT 1 FROM cue_requests q WHERE q.request_id = r.request_id)";
        let count: Option<i64> = self.one(COUNT, [], |row| row.get(0))?;
        Ok(count.unwrap_or_default().unsigned_abs())
    }

    fn has(&self, table: usize, column: &str) -> bool {
        self.columns[table].iter().any(|known| known == column)
    }

    /// The columns that are there, and nothing in the place of the others.
    fn select(&self, table: usize, wanted: &[&str]) -> String {
        let shown: Vec<&str> = wanted
            .iter()
            .map(|column| if self.has(table, column) { *column } else { "NULL" })
            .collect();
        shown.join(", ")
    }

    fn all<T>(
        &self,
        query: &str,
        params: impl Params,
        read: impl FnMut(&Row) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<Vec<T>> {
        self.patience.renew();
        self.connection
            .prepare_cached(query)?
            .query_map(params, read)?
            .collect()
    }

    fn one<T>(
        &self,
        query: &str,
        params: impl Params,
        read: impl FnOnce(&Row) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<Option<T>> {
        self.patience.renew();
        self.connection
            .prepare_cached(query)?
            .query_row(params, read)
            .optional()
    }
}

/// None of what only looks like a table: a view may be a program that never ends.
fn columns_of(connection: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    const SELECT: &str = "SELECT c.name FROM sqlite_schema s JOIN pragma_table_info(s.name) c \
         WHERE s.name = ?1 AND s.type = 'table' AND s.rootpage > 0";
    let mut statement = connection.prepare(SELECT)?;
    statement.query_map([table], |row| row.get(0))?.collect()
}

/// A mailbox that only the original's MCP server has used says no version; its two tables are the same.
fn check_version(connection: &Connection, path: &Path) -> Result<(), Failure> {
    let read = || -> rusqlite::Result<Option<String>> {
        if columns_of(connection, "schema_meta")?.is_empty() {
            return Ok(None);
        }
        const SELECT: &str = "SELECT value FROM schema_meta WHERE key = 'schema_version'";
        connection
            .query_row(SELECT, [], |row| text(row, 0))
            .optional()
            .map(Option::flatten)
    };
    let shown = path.display();
    match read() {
        Ok(None) => Ok(()),
        Ok(Some(version)) if version.trim() == VERSION => Ok(()),
        Ok(Some(version)) => Err(Failure::failed(&format!(
            "{shown} has schema_version {version}, and this cueme reads {VERSION} only; nothing was imported"
        ))),
        Err(error) => Err(Failure::failed(&format!("{shown} cannot be read: {error}"))),
    }
}
