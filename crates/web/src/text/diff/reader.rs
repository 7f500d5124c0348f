//! Reads a unified diff. Models miscount the lines of a hunk and leave out headers, so the counts only settle what is
//! ambiguous otherwise: a deleted line `-- x` looks like a file name.

use super::file::{DiffFile, DiffLine, DiffMark};

/// The names of a file before and after.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileNames<'t> {
    pub old: &'t str,
    pub new: &'t str,
}

impl<'t> FileNames<'t> {
    /// Parses the two lines `--- a/x` and `+++ b/x`.
    pub fn read(old: &'t str, new: &'t str) -> Option<Self> {
        Some(Self {
            old: path(old.strip_prefix("--- ")?, "a/"),
            new: path(new.strip_prefix("+++ ")?, "b/"),
        })
    }

    /// Parses `diff --git a/x b/x`.
    pub fn read_git(line: &'t str) -> Option<Self> {
        let (old, new) = line.strip_prefix("diff --git ")?.split_once(' ')?;
        Some(Self {
            old: path(old, "a/"),
            new: path(new, "b/"),
        })
    }
}

/// A path without its side, and without the time that follows a tab.
fn path<'t>(name: &'t str, side: &str) -> &'t str {
    let name = name.split('\t').next().unwrap_or(name).trim_end();
    name.strip_prefix(side).unwrap_or(name)
}

/// A hunk: the numbers of its next lines, and how many of them its header announced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hunk {
    old: usize,
    new: usize,
    old_left: usize,
    new_left: usize,
}

impl Hunk {
    /// Parses `@@ -12,3 +12,4 @@ and anything`; a count of one may be omitted.
    pub fn read(line: &str) -> Option<Self> {
        let (ranges, _) = line.strip_prefix("@@ -")?.split_once(" @@")?;
        let (old, new) = ranges.split_once(" +")?;
        let (old, old_left) = range(old)?;
        let (new, new_left) = range(new)?;
        Some(Self {
            old,
            new,
            old_left,
            new_left,
        })
    }

    fn next_old(&mut self) -> usize {
        self.old_left = self.old_left.saturating_sub(1);
        let number = self.old;
        self.old = number.saturating_add(1);
        number
    }

    fn next_new(&mut self) -> usize {
        self.new_left = self.new_left.saturating_sub(1);
        let number = self.new;
        self.new = number.saturating_add(1);
        number
    }
}

fn range(text: &str) -> Option<(usize, usize)> {
    let (start, count) = text.split_once(',').unwrap_or((text, "1"));
    Some((start.parse().ok()?, count.parse().ok()?))
}

pub fn read<'t>(lines: &[&'t str]) -> Vec<DiffFile<'t>> {
    let mut reader = Reader::default();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let next = lines.get(at + 1).copied().unwrap_or_default();
        let after = lines.get(at + 2).copied().unwrap_or_default();
        at += reader.take(line, next, after);
    }
    reader
        .files
        .retain(|file| file.names.is_some() || !file.lines.is_empty());
    reader.files
}

#[derive(Default)]
struct Reader<'t> {
    files: Vec<DiffFile<'t>>,
    hunk: Option<Hunk>,
    /// A header of git began the file, and its two names may follow.
    awaits_names: bool,
}

impl<'t> Reader<'t> {
    /// Takes a line, or the two lines with the names of a file; returns how many.
    fn take(&mut self, line: &'t str, next: &'t str, after: &str) -> usize {
        if let Some(names) = FileNames::read(line, next).filter(|_| self.may_begin_file(after)) {
            self.begin_file(names, false);
            return 2;
        }
        if let Some(names) = FileNames::read_git(line) {
            self.awaits_names = false;
            self.begin_file(names, true);
            if line != format!("diff --git a/{} b/{}", names.old, names.new) {
                self.push(DiffMark::Meta, line, None, None);
            }
        } else if line.starts_with("@@") {
            self.hunk = Hunk::read(line);
            self.awaits_names = false;
            self.push(DiffMark::Hunk, line, None, None);
        } else {
            self.line(line);
        }
        1
    }

    /// Within a hunk, two lines that look like names are names only if a hunk follows, unless they are the last two
    /// lines that the hunk announced.
    fn may_begin_file(&self, after: &str) -> bool {
        self.hunk.is_none_or(|hunk| match (hunk.old_left, hunk.new_left) {
            (0, 0) => true,
            (1, 1) => false,
            _ => after.starts_with("@@"),
        })
    }

    fn begin_file(&mut self, names: FileNames<'t>, awaits_names: bool) {
        self.hunk = None;
        let is_same_file = std::mem::replace(&mut self.awaits_names, awaits_names);
        match self.files.last_mut().filter(|_| is_same_file) {
            Some(file) => file.names = Some(names),
            None => self.files.push(DiffFile {
                names: Some(names),
                lines: Vec::new(),
            }),
        }
    }

    fn line(&mut self, line: &'t str) {
        let mut hunk = self.hunk;
        let signed = |sign: char| line.strip_prefix(sign);
        if let Some(text) = signed('+') {
            let new = hunk.as_mut().map(Hunk::next_new);
            self.push(DiffMark::Added, text, None, new);
        } else if let Some(text) = signed('-') {
            let old = hunk.as_mut().map(Hunk::next_old);
            self.push(DiffMark::Deleted, text, old, None);
        } else if line.starts_with('\\') || (hunk.is_none() && is_header(line)) {
            self.push(DiffMark::Meta, line, None, None);
        } else {
            let old = hunk.as_mut().map(Hunk::next_old);
            let new = hunk.as_mut().map(Hunk::next_new);
            // An editor may have removed the blank before an empty line.
            self.push(DiffMark::Same, signed(' ').unwrap_or(line), old, new);
        }
        self.hunk = hunk;
    }

    fn push(&mut self, mark: DiffMark, text: &'t str, old: Option<usize>, new: Option<usize>) {
        if self.files.is_empty() {
            self.files.push(DiffFile::default());
        }
        if let Some(file) = self.files.last_mut() {
            file.lines.push(DiffLine { mark, text, old, new });
        }
    }
}

fn is_header(line: &str) -> bool {
    [
        "diff ",
        "index ",
        "new file mode ",
        "deleted file mode ",
        "old mode ",
        "new mode ",
        "similarity index ",
        "dissimilarity index ",
        "rename ",
        "copy ",
        "Binary files ",
    ]
    .iter()
    .any(|start| line.starts_with(start))
}
