/// The progress of a copy, reported after every batch and when a table is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyProgress<'t> {
    pub stage: CopyStage,
    pub table: &'t str,
    pub rows: u64,
    /// Known once the source has been read.
    pub of: Option<u64>,
    pub is_done: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyStage {
    Reading,
    Copying,
    Checking,
}
