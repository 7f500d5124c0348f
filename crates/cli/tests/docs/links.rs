//! Every relative link and anchor of the pages exists, and the site has every page.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().expect("the root of the tree")
}

fn pages_in(folder: &Path) -> Vec<PathBuf> {
    let mut pages = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() && folder != root() {
            pages.extend(pages_in(&path));
        } else if path.extension().is_some_and(|kind| kind == "md") {
            pages.push(path);
        }
    }
    pages.sort();
    pages
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The text without code blocks, line by line.
fn prose(page: &str) -> Vec<&str> {
    let mut is_code = false;
    let lines = page.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    });
    lines.collect()
}

/// The targets of `[text](target)` and `![text](target)`.
fn targets(page: &str) -> Vec<String> {
    let prose = prose(page).join("\n");
    let ends = prose.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    ends.map(|(target, _)| target.to_owned()).collect()
}

/// The anchors that GitHub and mdBook give to the headings of a page.
fn anchors(page: &str) -> BTreeSet<String> {
    let headings = prose(page).into_iter().filter(|line| line.starts_with('#'));
    headings.map(|line| slug(line.trim_start_matches('#').trim())).collect()
}

fn slug(heading: &str) -> String {
    let kept = heading.chars().filter_map(|c| match c {
        ' ' => Some('-'),
        _ if c.is_alphanumeric() || c == '-' || c == '_' => Some(c),
        _ => None,
    });
    kept.collect::<String>().to_lowercase()
}

fn broken(page: &Path, target: &str) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
    let path = match file {
        "" => page.to_owned(),
        _ => page.parent().expect("a folder").join(file),
    };
    if !path.exists() {
        return Some(format!("{}: no {target}", page.display()));
    }
    let is_there = anchor.is_empty() || anchors(&read(&path)).contains(anchor);
    (!is_there).then(|| format!("{}: no heading for {target}", page.display()))
}

#[test]
fn every_relative_link_leads_to_a_file_and_a_heading() {
    let root = root();
    let mut pages = pages_in(&root);
    pages.extend(pages_in(&root.join("docs")));
    pages.extend(pages_in(&root.join("examples")));
    assert!(pages.len() > 30, "{pages:?}");
    let mut count = 0;
    let mut faults = Vec::new();
    for page in &pages {
        let targets = targets(&read(page));
        count += targets.len();
        faults.extend(targets.iter().filter_map(|target| broken(page, target)));
    }
    assert_eq!(faults, Vec::<String>::new());
    assert!(count > 200, "only {count} links were found");
}

#[test]
fn the_site_lists_every_page_once() {
    let docs = root().join("docs");
    let summary = docs.join("SUMMARY.md");
    let mut listed = targets(&read(&summary));
    listed.sort();
    let pages = pages_in(&docs);
    let names = pages.iter().filter(|page| **page != summary).map(|page| {
        let name = page.strip_prefix(&docs).expect("a page below docs");
        name.display().to_string()
    });
    let mut names: Vec<String> = names.collect();
    names.sort();
    assert_eq!(listed, names);
}

#[test]
fn a_missing_file_and_a_missing_heading_are_found() {
    let page = root().join("docs/README.md");
    assert!(broken(&page, "no-such-page.md").is_some());
    assert!(broken(&page, "inbox.md#no-such-heading").is_some());
    assert_eq!(broken(&page, "inbox.md#the-list"), None);
    assert_eq!(slug("`seal` and `open`: why?"), "seal-and-open-why");
}
