//! The mailbox database: its schema version and its tables, whose columns depend on the program that created them. Each
//! query is short, so that a program that still writes to the database is not blocked.

use std::path::Path;

use countersign_protocol::time::Timestamp;
use rusqlite::{Connection, OptionalExtension, Params, Row};

use super::attachments;
use super::open::{self, QueryDeadline};
use super::request::parse_instant;
use super::rows::{AgentRow, AnswerRow, FileRow, RequestRow, flag, text, text_or_empty};
use crate::failure::Failure;

const SCHEMA_VERSION: &str = "3";
/// A limit per query, far above the size of any real mailbox.
const MAX_ROWS: usize = 1_000_000;

#[derive(Debug)]
pub struct Database {
    connection: Connection,
    deadline: QueryDeadline,
    /// The column names of each table in [`TABLES`].
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
        let (connection, deadline) = open::open(path)?;
        let shown = path.display();
        let unreadable = |error: rusqlite::Error| Failure::failed(&format!("{shown} cannot be read: {error}"));
        check_version(&connection, path)?;
        let mut columns: [Vec<String>; 5] = Default::default();
        for (table, columns) in TABLES.iter().zip(&mut columns) {
            *columns = columns_of(&connection, table).map_err(unreadable)?;
        }
        let database = Self {
            connection,
            deadline,
            columns,
        };
        let required = ["request_id", "agent_id", "prompt"];
        if required.iter().any(|column| !database.has(REQUESTS, column)) {
            let message = format!(
                "{shown} is no mailbox of cueme: it has no cue_requests with {}",
                required.join(", ")
            );
            return Err(Failure::failed(&message));
        }
        Ok(database)
    }

    pub fn agents(&self) -> rusqlite::Result<Vec<AgentRow>> {
        if !self.has(ENVS, "agent_id") {
            return Ok(Vec::new());
        }
        let columns = self.select(ENVS, &["agent_id", "agent_runtime", "project_dir", "agent_terminal"]);
        let query = format!("SELECT {columns} FROM agent_envs ORDER BY rowid LIMIT {MAX_ROWS}");
        self.query_all(&query, [], |row| {
            Ok(AgentRow {
                agent_id: text_or_empty(row, 0)?,
                runtime: text(row, 1)?,
                project_dir: text(row, 2)?,
                terminal: text(row, 3)?,
            })
        })
    }

    /// The row ids of all requests, oldest first. Times are compared as instants, because the two writers' text formats
    /// do not sort.
    pub fn request_rowids(&self) -> rusqlite::Result<Vec<i64>> {
        let columns = self.select(REQUESTS, &["created_at"]);
        let query = format!("SELECT rowid, {columns} FROM cue_requests LIMIT {MAX_ROWS}");
        let mut requests: Vec<(Option<Timestamp>, i64)> = self.query_all(&query, [], |row| {
            Ok((text(row, 1)?.as_deref().and_then(parse_instant), row.get(0)?))
        })?;
        requests.sort_unstable();
        Ok(requests.into_iter().map(|(_, rowid)| rowid).collect())
    }

    /// Returns `None` if the request was deleted in the meantime.
    pub fn request(&self, rowid: i64) -> rusqlite::Result<Option<RequestRow>> {
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
        self.query_one(&query, [rowid], |row| {
            Ok(RequestRow {
                request_id: text_or_empty(row, 0)?,
                agent_id: text_or_empty(row, 1)?,
                prompt: text_or_empty(row, 2)?,
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
        self.query_one(&query, [request_id], |row| {
            Ok(AnswerRow {
                rowid: row.get(0)?,
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
        let mime_type = if self.has(FILES, "mime_type") {
            "f.mime_type"
        } else {
            "NULL"
        };
        let query = format!(
            "SELECT f.file, {mime_type} FROM cue_response_files r JOIN cue_files f ON f.rowid = r.file_id \
             WHERE r.response_id = ?1 ORDER BY {order} LIMIT {}",
            attachments::MAX_LISTED_FILES
        );
        self.query_all(&query, [answer], |row| {
            Ok(FileRow {
                file: text_or_empty(row, 0)?,
                mime_type: text(row, 1)?,
            })
        })
    }

    /// The number of answers whose request was deleted.
    pub fn orphans(&self) -> rusqlite::Result<u64> {
        if !self.has(RESPONSES, "request_id") {
            return Ok(0);
        }
        const COUNT: &str = "SELECT COUNT(*) FROM cue_responses r \
             WHERE NOT EXISTS (SELECT 1 FROM cue_requests q WHERE q.request_id = r.request_id)";
        let count: Option<i64> = self.query_one(COUNT, [], |row| row.get(0))?;
        Ok(count.unwrap_or_default().unsigned_abs())
    }

    fn has(&self, table: usize, column: &str) -> bool {
        self.columns[table].iter().any(|known| known == column)
    }

    /// The columns for a `SELECT`, with `NULL` for a column that the table does not have.
    fn select(&self, table: usize, wanted: &[&str]) -> String {
        let shown: Vec<&str> = wanted
            .iter()
            .map(|column| if self.has(table, column) { *column } else { "NULL" })
            .collect();
        shown.join(", ")
    }

    fn query_all<T>(
        &self,
        query: &str,
        params: impl Params,
        read: impl FnMut(&Row) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<Vec<T>> {
        self.deadline.restart();
        self.connection
            .prepare_cached(query)?
            .query_map(params, read)?
            .collect()
    }

    fn query_one<T>(
        &self,
        query: &str,
        params: impl Params,
        read: impl FnOnce(&Row) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<Option<T>> {
        self.deadline.restart();
        self.connection
            .prepare_cached(query)?
            .query_row(params, read)
            .optional()
    }
}

/// The columns of a real table. A view or virtual table counts as missing: a view may be a query that never ends.
fn columns_of(connection: &Connection, table: &str) -> rusqlite::Result<Vec<String>> {
    const SELECT: &str = "SELECT c.name FROM sqlite_schema s JOIN pragma_table_info(s.name) c \
         WHERE s.name = ?1 AND s.type = 'table' AND s.rootpage > 0";
    let mut statement = connection.prepare(SELECT)?;
    statement.query_map([table], |row| row.get(0))?.collect()
}

/// A mailbox that only the original's MCP server has used records no version; its two tables are the same.
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
        Ok(Some(version)) if version.trim() == SCHEMA_VERSION => Ok(()),
        Ok(Some(version)) => Err(Failure::failed(&format!(
            "{shown} has schema_version {version}, and this cueme reads {SCHEMA_VERSION} only; nothing was imported"
        ))),
        Err(error) => Err(Failure::failed(&format!("{shown} cannot be read: {error}"))),
    }
}
