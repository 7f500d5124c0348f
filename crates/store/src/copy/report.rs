use super::sum::TableChecksum;

/// What the two sides came to, read one after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CopyReport {
    pub tables: Vec<TableComparison>,
    /// An earlier copy was taken up.
    pub resumed: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableComparison {
    pub table: String,
    pub source: TableChecksum,
    pub target: TableChecksum,
}

impl CopyReport {
    /// If not, the target keeps its mark, and no hub opens it.
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
