use super::sum::Sum;

/// What the two sides came to, read one after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    pub tables: Vec<Compared>,
    /// An earlier copy was taken up.
    pub resumed: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compared {
    pub table: String,
    pub source: Sum,
    pub target: Sum,
}

impl Report {
    /// If not, the target keeps its mark, and no hub opens it.
    pub fn is_same(&self) -> bool {
        self.tables.iter().all(Compared::is_same)
    }

    pub fn rows(&self) -> u64 {
        self.tables.iter().map(|table| table.source.rows).sum()
    }
}

impl Compared {
    pub fn is_same(&self) -> bool {
        self.source == self.target
    }
}
