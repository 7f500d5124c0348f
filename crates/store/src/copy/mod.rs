//! Moving a whole store from one database to another: from the embedded one to PostgreSQL, and back.
//!
//! 1. **read** the source once, and sum up every table: how many rows, and a SHA-256 over all of them in the order of
//!    their keys. Nothing can change it meanwhile.
//! 2. **mark** the target as a copy under way of exactly that content. No hub opens it from here on.
//! 3. **carry** the rows over in portions, each in one transaction and in the order of the keys. What a table holds is
//!    therefore how far it has come, and a copy that was cut off goes on from there.
//! 4. **check**: read the target back, sum it up in the same way, and take the mark away if both sums agree.
//!
//! Tables and columns come from the databases' own catalogues, so a new migration needs no change here, unless it brings
//! a table that must not be copied (`left_out.rs`).

mod catalogue;
mod error;
mod job;
mod left_out;
mod mark;
mod place;
mod postgres;
mod progress;
mod reading;
mod report;
mod side;
mod sql;
mod sqlite;
mod sum;
mod table;

pub use error::CopyError;
pub use job::copy;
pub use left_out::SKIPPED_TABLES;
pub(crate) use mark::{refuse_unfinished_database, refuse_unfinished_file};
pub use place::StoreLocation;
pub use progress::{CopyProgress, CopyStage};
pub use report::{CopyReport, TableComparison};
pub use side::BatchSize;
pub use sum::TableChecksum;
