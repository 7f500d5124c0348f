//! A diff as it was read: files with their lines.

use super::reader::FileNames;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiffMark {
    Added,
    Deleted,
    Same,
    /// The header of a hunk.
    Hunk,
    /// A line about the file, not of it.
    Meta,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiffLine<'t> {
    pub mark: DiffMark,
    /// The line without its sign.
    pub text: &'t str,
    /// Line numbers in the old and the new file, where a hunk header gave them.
    pub old: Option<usize>,
    pub new: Option<usize>,
}

#[derive(Debug, Default)]
pub struct DiffFile<'t> {
    pub names: Option<FileNames<'t>>,
    pub lines: Vec<DiffLine<'t>>,
}

impl DiffFile<'_> {
    pub fn count(&self, mark: DiffMark) -> usize {
        self.lines.iter().filter(|line| line.mark == mark).count()
    }
}
