//! Writes a diff. Line numbers are an attribute that the stylesheet shows, and signs come from the stylesheet alone, so
//! neither is copied with the text.

use countersign_highlight::KnownLanguage;

use super::file::{DiffFile, DiffLine, DiffMark};
use super::reader::FileNames;
use super::words::changed_words;
use crate::language::{counted, say, t};
use crate::text::code::ColouredCode;
use crate::text::safe_html::{HtmlBuilder, SafeHtml};

/// Files start closed after this many lines.
const MAX_OPEN_LINES: usize = 300;
/// Longer lines have no colours.
const MAX_COLOURED_BYTES: usize = 1000;
const NO_FILE: &str = "/dev/null";

pub fn write(files: &[DiffFile<'_>], rest: &[&str]) -> SafeHtml {
    let mut html = HtmlBuilder::new();
    html.markup(r#"<div class="diff">"#);
    let named = files.iter().filter(|file| file.names.is_some()).count();
    if named > 1 {
        html.markup(r#"<p class="total">"#);
        html.line(&say!("{count} files changed", count = named));
        html.line(" ");
        let total = |mark| files.iter().map(|file| file.count(mark)).sum();
        write_sums(&mut html, total(DiffMark::Added), total(DiffMark::Deleted));
        html.markup("</p>");
    }
    let mut shown = 0;
    for file in files {
        shown += file.lines.len();
        let is_open = named == 1 || shown <= MAX_OPEN_LINES;
        match file.names {
            Some(names) => write_file(&mut html, names, file, is_open),
            None => write_lines(&mut html, file, None),
        }
    }
    write_rest(&mut html, rest);
    html.markup("</div>");
    html.finish()
}

fn write_sums(html: &mut HtmlBuilder, added: usize, deleted: usize) {
    html.markup(r#"<span class="sums"><span class="plus">"#);
    html.line(&format!("+{added}"));
    html.markup(r#"</span> <span class="minus">"#);
    html.line(&format!("−{deleted}"));
    html.markup("</span></span>");
}

fn write_file(html: &mut HtmlBuilder, names: FileNames<'_>, file: &DiffFile<'_>, is_open: bool) {
    html.markup(if is_open {
        r#"<details class="file" open><summary><span class="name">"#
    } else {
        r#"<details class="file"><summary><span class="name">"#
    });
    let (name, note) = match names {
        FileNames { old, new } if old == new => (new.to_owned(), ""),
        FileNames { old: NO_FILE, new } => (new.to_owned(), t("new file")),
        FileNames { old, new: NO_FILE } => (old.to_owned(), t("deleted")),
        FileNames { old, new } => (format!("{old} → {new}"), ""),
    };
    html.line(&name);
    html.markup("</span> ");
    if !note.is_empty() {
        html.markup(r#"<span class="badge">"#);
        html.line(note);
        html.markup("</span> ");
    }
    write_sums(html, file.count(DiffMark::Added), file.count(DiffMark::Deleted));
    html.markup("</summary>");
    let language = KnownLanguage::by_path(names.new).or_else(|| KnownLanguage::by_path(names.old));
    write_lines(html, file, language);
    html.markup("</details>");
}

fn write_lines(html: &mut HtmlBuilder, file: &DiffFile<'_>, language: Option<KnownLanguage>) {
    let changed = changed_words(&file.lines);
    let numbers = file.lines.iter().filter_map(|line| line.old.max(line.new));
    let width = numbers.max().map(|largest| largest.to_string().len());
    html.markup(r#"<div class="lines">"#);
    for (line, changed) in file.lines.iter().zip(changed) {
        write_start(html, line, width);
        let language = language.filter(|_| is_code(line));
        let code = ColouredCode::new(line.text, language);
        match changed.filter(|changed| !changed.is_empty()) {
            Some(changed) => {
                code.write_range(html, 0..changed.start);
                html.markup("<mark>");
                code.write_range(html, changed.clone());
                html.markup("</mark>");
                code.write_range(html, changed.end..line.text.len());
            }
            None => code.write(html),
        }
        html.markup("\n</code></div>");
    }
    html.markup("</div>");
}

fn is_code(line: &DiffLine<'_>) -> bool {
    let is_of_the_file = match line.mark {
        DiffMark::Added | DiffMark::Deleted | DiffMark::Same => true,
        DiffMark::Hunk | DiffMark::Meta => false,
    };
    is_of_the_file && line.text.len() <= MAX_COLOURED_BYTES
}

fn write_start(html: &mut HtmlBuilder, line: &DiffLine<'_>, width: Option<usize>) {
    html.markup(match line.mark {
        DiffMark::Added => r#"<div class="add""#,
        DiffMark::Deleted => r#"<div class="del""#,
        DiffMark::Same => r#"<div class="same""#,
        DiffMark::Hunk => r#"<div class="hunk""#,
        DiffMark::Meta => r#"<div class="meta""#,
    });
    if let Some(width) = width {
        let number = |number: Option<usize>| number.map(|number| number.to_string()).unwrap_or_default();
        html.markup(r#" data-n=""#);
        html.line(&format!("{:>width$} {:>width$}", number(line.old), number(line.new)));
        html.markup("\"");
    }
    html.markup("><code>");
}

fn write_rest(html: &mut HtmlBuilder, lines: &[&str]) {
    if lines.is_empty() {
        return;
    }
    html.markup("<details><summary>… ");
    html.line(&counted(lines.len(), "{count} more line", "{count} more lines"));
    html.markup("</summary><pre>");
    lines.iter().for_each(|line| html.lines(&format!("{line}\n")));
    html.markup("</pre></details>");
}
