use super::checksum::TableChecksum;

/// The result of a copy: the checksums of source and target, table by table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyReport {
    pub tables: Vec<TableComparison>,
    /// Whether an earlier copy was resumed.
    pub resumed: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableComparison {
    pub table: String,
    pub source: TableChecksum,
    pub target: TableChecksum,
}

impl CopyReport {
    /// If false, the target keeps its marker, and no hub opens it.
    pub fn is_same(&self) -> bool {
        self.tables.iter().all(TableComparison::is_same)
    }

    pub fn rows(&self) -> u64 {
        self.tables.iter().map(|table| table.source.rows).sum()
    }
}

impl TableComparison {
    pub fn is_same(&self) -> bool {
        self.source == self.target
    }
}
