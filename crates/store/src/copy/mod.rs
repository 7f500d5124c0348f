//! Copies a whole store from one database to another: from the embedded one to PostgreSQL, and back.
//!
//! 1. **read** the source once and checksum every table: the number of rows, and a SHA-256 over all of them in key
//!    order. The source cannot change meanwhile.
//! 2. **mark** the target as an unfinished copy of exactly that content. No hub opens it from here on.
//! 3. **transfer** the rows in batches, each in one transaction and in key order. The rows in a table therefore show
//!    how far it has come, and an interrupted copy resumes from there.
//! 4. **verify**: read the target back, checksum it in the same way, and remove the marker if all checksums agree.
//!
//! Tables and columns come from the databases' own catalogues, so a new migration needs no change here, unless it adds
//! a table that must not be copied (`left_out.rs`).

mod catalogue;
mod checksum;
mod endpoints;
mod error;
mod job;
mod location;
mod marker;
mod postgres;
mod progress;
mod read_only;
mod read_table;
mod report;
mod skipped;
mod sql;
mod sqlite;
mod table;

pub use checksum::TableChecksum;
pub use endpoints::BatchSize;
pub use error::CopyError;
pub use job::copy;
pub use location::StoreLocation;
pub(crate) use marker::{refuse_unfinished_database, refuse_unfinished_file};
pub use progress::{CopyProgress, CopyStage};
pub use read_only::read_only;
pub use report::{CopyReport, TableComparison};
pub use skipped::SKIPPED_TABLES;
