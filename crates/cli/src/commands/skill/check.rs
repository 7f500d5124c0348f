//! Checks a SKILL.md against the required content. All faults are reported at once.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result, bail};
use countersign_protocol::a2h::Kind;

use super::front_matter::FrontMatter;
use super::json_blocks;
use super::secret::looks_secret;
use super::settings::SkillSettings;

const MAX_PAGE_BYTES: u64 = 256 * 1024;
/// The advice of skill installers: longer pages cost every reader.
const MAX_LINES: usize = 500;

const REQUIRED_SECTIONS: [&str; 5] = [
    "Endpoint and credential",
    "The envelope",
    "Idempotency key and replay",
    "Errors",
    "Prove it",
];
const OUTCOME_SECTIONS: [&str; 5] = [
    "Who may answer",
    "State",
    "Callback",
    "Receive",
    "Branch on the resolution",
];

/// The required steps of the receiving side.
const RECEIVER_STEPS: [&str; 3] = ["**Dedupe**", "**Open the state**", "**Branch**"];

/// Reads and checks the skill in a directory; returns its page as well.
pub fn read(directory: &Path) -> Result<(SkillSettings, String)> {
    let path = directory.join("SKILL.md");
    let shown = path.display();
    let file = File::open(&path).with_context(|| format!("{shown} cannot be read"))?;
    let mut text = String::new();
    let limit = MAX_PAGE_BYTES + 1;
    file.take(limit)
        .read_to_string(&mut text)
        .with_context(|| format!("{shown} cannot be read"))?;
    if text.len() as u64 == limit {
        bail!("{shown} is larger than {MAX_PAGE_BYTES} bytes");
    }
    let directory = std::path::absolute(directory)?;
    let name = directory.file_name().unwrap_or_default().to_string_lossy();
    let text = text.replace("\r\n", "\n");
    let settings = check(&text, &name).with_context(|| format!("{shown}"))?;
    Ok((settings, text))
}

/// `name` is the directory's name, which installers use.
pub fn check(text: &str, name: &str) -> Result<SkillSettings> {
    let text = text.replace("\r\n", "\n");
    let (front, body) = FrontMatter::split(&text)?;
    let mut faults = front.faults();
    if front.name != name {
        faults.push(format!("name: is {}, but the directory is called {name}", front.name));
    }
    faults.extend(content_faults(&text));
    let settings = match SkillSettings::from_front_matter(&front) {
        Ok(settings) => settings,
        Err(error) => bail!("{}", join_faults(faults, format!("{error:#}"))),
    };
    faults.extend(missing_sections(body, &settings));
    faults.extend(json_blocks::faults(body, &settings));
    match faults.pop() {
        None => Ok(settings),
        Some(last) => bail!("{}", join_faults(faults, last)),
    }
}

fn join_faults(mut faults: Vec<String>, last: String) -> String {
    faults.push(last);
    faults.join("; ")
}

/// Faults in the content of a page: placeholders, too many lines, secrets.
fn content_faults(text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    if text.contains("{{") {
        faults.push("it contains an unfilled placeholder".to_owned());
    }
    if text.lines().count() > MAX_LINES {
        faults.push(format!("it has more than {MAX_LINES} lines"));
    }
    // The line's number is reported, not its content.
    let secret = text.lines().position(looks_secret);
    faults.extend(secret.map(|at| format!("line {} holds what looks like a secret", at + 1)));
    faults
}

fn missing_sections(body: &str, settings: &SkillSettings) -> Vec<String> {
    let with_outcome = settings.kind != Kind::Notify;
    let mut sections = REQUIRED_SECTIONS.to_vec();
    let mut steps = Vec::new();
    if with_outcome {
        sections.extend(OUTCOME_SECTIONS);
        steps.extend(RECEIVER_STEPS);
    }
    if settings.kind == Kind::Ask {
        sections.push("Question modes");
    }
    if settings.push().is_some() {
        sections.push("Verify a push");
        steps.push("**Verify**");
    }
    let has_section = |section: &&str| body.lines().any(|line| line.strip_prefix("## ") == Some(section));
    let missing = sections.into_iter().filter(|section| !has_section(section));
    let missing = missing.map(|section| format!("the section \"{section}\" is missing"));
    let skipped = steps.into_iter().filter(|step| !body.contains(step));
    missing
        .chain(skipped.map(|step| format!("the step {step} is missing")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::render::page;
    use super::super::settings::tests::every_kind;
    use super::*;

    #[test]
    fn a_built_page_passes_the_check_with_its_settings() {
        for settings in every_kind() {
            let text = page(&settings).unwrap();
            assert_eq!(check(&text, &settings.name()).unwrap(), settings);
            assert_eq!(check(&text.replace('\n', "\r\n"), &settings.name()).unwrap(), settings);
        }
    }

    #[test]
    fn every_section_is_required() {
        for settings in every_kind() {
            let text = page(&settings).unwrap();
            let sections = text
                .lines()
                .filter(|line| line.starts_with("## ") && !line.starts_with("## When"));
            for section in sections {
                let cut = text.replace(section, "## Something else");
                let error = check(&cut, &settings.name()).unwrap_err().to_string();
                assert!(error.contains(section.trim_start_matches("## ")), "{section}: {error}");
            }
        }
    }

    #[test]
    fn all_faults_are_reported_at_once() {
        let settings = &every_kind()[0];
        let bad = page(settings).unwrap() + "\n{{later}}\n\nToken: csa_BeqyUGBX\n";
        let error = check(&bad, "other-ask").unwrap_err().to_string();
        for part in ["directory is called other-ask", "placeholder", "looks like a secret"] {
            assert!(error.contains(part), "{part}: {error}");
        }
        assert!(!error.contains("BeqyUGBX"));
    }

    #[test]
    fn our_own_skills_are_within_the_limits() {
        let pages = [
            (
                "build-ask",
                include_str!("../../../../../plugin/skills/build-ask/SKILL.md"),
            ),
            (
                "build-notify",
                include_str!("../../../../../plugin/skills/build-notify/SKILL.md"),
            ),
            (
                "build-task",
                include_str!("../../../../../plugin/skills/build-task/SKILL.md"),
            ),
        ];
        for (name, text) in pages {
            let (front, _) = FrontMatter::split(text).unwrap();
            assert_eq!((front.name.as_str(), front.faults()), (name, vec![]));
            assert_eq!(content_faults(text), Vec::<String>::new());
        }
    }
}
