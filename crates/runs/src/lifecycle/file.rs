//! Reading a strategy from a local file, including system prompts stored in files of their own.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use countersign_protocol::runs::strategy::{self, AgentKind, MAX_BYTES, Strategy, StrategyFormat};
use rustix::fs::{Mode, OFlags, open, openat};

const MAX_PROMPT_BYTES: usize = 256 * 1024;
/// Bound over all agents: the strategy is stored and loaded with every prompt in it.
const MAX_PROMPTS_BYTES: usize = 2 * 1024 * 1024;
const MAX_PATH_BYTES: usize = 4096;
/// Linux opens a folder that the hub may pass through but not list.
#[cfg(target_os = "linux")]
const OPEN_FOLDER: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const OPEN_FOLDER: OFlags = OFlags::RDONLY;

/// A relative path is resolved against `base`. The error text goes to the client and repeats nothing of a file that is
/// not a strategy.
pub async fn load(path: String, base: PathBuf) -> Result<Strategy, String> {
    let loaded = tokio::task::spawn_blocking(move || load_now(&path, &base)).await;
    loaded.unwrap_or_else(|error| Err(format!("The strategy could not be read: {error}")))
}

fn load_now(path: &str, base: &Path) -> Result<Strategy, String> {
    let file = base.join(path);
    let folder = file.parent().unwrap_or(base);
    let is_below_base = Path::new(path)
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    let anchor = if is_below_base { base } else { folder };
    let not_found = |why: io::Error| format!("Strategy file not found: {path} - {why}");
    let invalid = |why: &str| format!("Strategy validation failed:\n  - file: {why}");
    let Some(format) = StrategyFormat::of_path(path) else {
        return Err(invalid("its name must end in .json, .jsonc, .yaml or .yml"));
    };
    let bytes = read(&file, anchor, MAX_BYTES).map_err(not_found)?;
    let Some(bytes) = bytes else {
        return Err(invalid(&format!("keep it within {MAX_BYTES} bytes")));
    };
    let text = String::from_utf8(bytes).map_err(|_| invalid("it is not UTF-8"))?;
    let mut strategy = strategy::read(&text, format).map_err(|error| error.to_string())?;
    read_prompts(&mut strategy, folder)?;
    Ok(strategy)
}

fn read_prompts(strategy: &mut Strategy, folder: &Path) -> Result<(), String> {
    let mut left = MAX_PROMPTS_BYTES;
    for agent in &mut strategy.agents {
        if let AgentKind::Llm(llm) = &mut agent.kind
            && let Some(prompt) = &mut llm.system_prompt
        {
            let invalid = |why| {
                format!(
                    "Strategy validation failed:\n  - agents.{}.systemPrompt: {why}",
                    agent.name
                )
            };
            *prompt = prompt_text(prompt, folder).map_err(invalid)?;
            let too_much = || format!("keep all system prompts together within {MAX_PROMPTS_BYTES} bytes");
            left = left.checked_sub(prompt.len()).ok_or_else(|| invalid(too_much()))?;
        }
    }
    Ok(())
}

/// Returns the text itself, or the content of the file it names. A text with spaces that only ends like a file name is
/// text.
fn prompt_text(prompt: &str, folder: &Path) -> Result<String, String> {
    let is_named = prompt.len() <= MAX_PATH_BYTES && (prompt.ends_with(".txt") || prompt.ends_with(".md"));
    if !is_named || prompt.contains('\n') {
        return Ok(prompt.to_owned());
    }
    match read(&folder.join(prompt), folder, MAX_PROMPT_BYTES) {
        Ok(Some(bytes)) => String::from_utf8(bytes).map_err(|_| "the file it names is not UTF-8".to_owned()),
        Ok(None) => Err(format!("keep the file it names within {MAX_PROMPT_BYTES} bytes")),
        Err(error) if error.kind() == io::ErrorKind::NotFound && prompt.contains(' ') => Ok(prompt.to_owned()),
        Err(error) => Err(format!("the file it names cannot be read: {error}")),
    }
}

/// Returns `None` if the file is longer than `limit`. Only regular files are read: a pipe or device may never end.
fn read(file: &Path, anchor: &Path, limit: usize) -> io::Result<Option<Vec<u8>>> {
    let opened = open_below(file, anchor)?;
    if !opened.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a plain file"));
    }
    let mut bytes = Vec::new();
    opened.take(limit as u64 + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() <= limit).then_some(bytes))
}

/// Opens a file whose real path is below that of `anchor`. Links that stay below it are resolved first; the opening then
/// follows none, so that a link put in place meanwhile is an error.
fn open_below(file: &Path, anchor: &Path) -> io::Result<File> {
    let anchor = anchor.canonicalize()?;
    let real = file.canonicalize()?;
    let Ok(below) = real.strip_prefix(&anchor) else {
        let why = "its path or a link leads out of its folder; copy it there";
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    };
    let Some(name) = below.file_name() else {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"));
    };
    let folder_flags = OPEN_FOLDER | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut folder = open(&anchor, folder_flags, Mode::empty())?;
    for part in below.parent().into_iter().flatten() {
        folder = openat(&folder, part, folder_flags, Mode::empty())?;
    }
    // Without waiting for the writer of a pipe.
    let file_flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(openat(&folder, name, file_flags, Mode::empty())?.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A temporary directory, removed with the test.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("countersign-file-{}-{name}", std::process::id()));
            std::fs::create_dir_all(&path).unwrap();
            Self(path)
        }

        fn write(&self, name: &str, text: impl AsRef<[u8]>) {
            std::fs::write(self.0.join(name), text).unwrap();
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            drop(std::fs::remove_dir_all(&self.0));
        }
    }

    #[test]
    fn a_prompt_is_a_text_or_the_file_it_names() {
        let folder = Folder::new("prompts");
        folder.write("role.md", "You are brief.");
        folder.write("long.txt", vec![b'x'; MAX_PROMPT_BYTES + 1]);
        folder.write("bytes.txt", [0xff]);
        let read = |prompt: &str| prompt_text(prompt, &folder.0);
        assert_eq!(read("role.md").unwrap(), "You are brief.");
        for expected in ["Be brief.", "Put it into README.md", "Two lines\nrole.md", ""] {
            assert_eq!(read(expected).unwrap(), expected);
        }
        for wrong in ["missing.md", "long.txt", "bytes.txt"] {
            assert!(!read(wrong).unwrap_err().contains(wrong), "{wrong}");
        }
    }

    #[test]
    fn a_link_may_not_lead_out_of_the_folder() {
        let outside = Folder::new("outside");
        outside.write("credentials", "https://ann:TOKEN@example.com");
        outside.write("plan.yaml", "name: Plan");
        let folder = Folder::new("links");
        let link = |to: &Path, name: &str| std::os::unix::fs::symlink(to, folder.0.join(name)).unwrap();
        folder.write("role.md", "You are brief.");
        std::fs::create_dir(folder.0.join("sub")).unwrap();
        folder.write("sub/plan.yaml", "name: Plan");
        link(Path::new("sub"), "inside");
        link(Path::new("role.md"), "inside.md");
        link(&outside.0.join("credentials"), "outside.md");
        link(&outside.0.join("credentials"), "credentials.yaml");
        link(&outside.0, "elsewhere");
        link(Path::new("loop.md"), "loop.md");
        let prompt = |prompt: &str| prompt_text(prompt, &folder.0);
        assert_eq!(prompt("inside.md").unwrap(), "You are brief.");
        let up = format!("../{}/credentials.md", outside.0.file_name().unwrap().display());
        outside.write("credentials.md", "TOKEN");
        let absolute = outside.0.join("credentials.md").display().to_string();
        for wrong in ["outside.md", "elsewhere/credentials.md", &up, &absolute, "loop.md"] {
            let error = prompt(wrong).unwrap_err();
            assert!(!error.contains("TOKEN") && error.contains("cannot be read"), "{error}");
        }
        for fine in ["inside/plan.yaml", "./sub/plan.yaml"] {
            let error = load_now(fine, &folder.0).unwrap_err();
            assert!(error.starts_with("Strategy validation failed"), "it was read: {error}");
        }
        let named = folder.0.join("credentials.yaml").display().to_string();
        for wrong in ["credentials.yaml", "elsewhere/plan.yaml", &named] {
            let error = load_now(wrong, &folder.0).unwrap_err();
            assert!(error.contains("leads out of its folder"), "{error}");
        }
        let beside = format!("{}/plan.yaml", folder.0.join("elsewhere").display());
        let error = load_now(&beside, &folder.0).unwrap_err();
        assert!(
            error.starts_with("Strategy validation failed"),
            "a folder that is named outright may be a link: {error}"
        );
    }

    #[test]
    fn a_folder_on_the_way_need_not_be_listable() {
        use std::os::unix::fs::PermissionsExt;
        let folder = Folder::new("passage");
        std::fs::create_dir(folder.0.join("sub")).unwrap();
        folder.write("sub/role.md", "You are brief.");
        std::fs::set_permissions(folder.0.join("sub"), PermissionsExt::from_mode(0o311)).unwrap();
        let prompt = prompt_text("sub/role.md", &folder.0);
        std::fs::set_permissions(folder.0.join("sub"), PermissionsExt::from_mode(0o755)).unwrap();
        assert_eq!(prompt.unwrap(), "You are brief.");
    }

    #[test]
    fn the_total_size_of_prompts_is_bounded() {
        let folder = Folder::new("sum");
        folder.write("long.txt", vec![b'x'; MAX_PROMPT_BYTES]);
        for (agents, fits) in [(8, true), (9, false)] {
            let agent = |number| format!(r#""a{number}": {{"model": "m", "systemPrompt": "long.txt"}}"#);
            let agents: Vec<String> = (1..=agents).map(agent).collect();
            let flow = r#"{"name": "Main", "type": "sequential", "steps": [{"agent": "a1"}]}"#;
            let agents = agents.join(", ");
            folder.write(
                "many.json",
                format!(r#"{{"name": "Many", "version": "1", "agents": {{{agents}}}, "flow": {flow}}}"#),
            );
            match load_now("many.json", &folder.0) {
                Ok(_) => assert!(fits),
                Err(error) => assert!(!fits && error.contains("agents.a9.systemPrompt: keep all"), "{error}"),
            }
        }
    }

    #[test]
    fn only_a_plain_file_of_a_known_kind_is_read() {
        let folder = Folder::new("strategies");
        folder.write("large.json", vec![b' '; MAX_BYTES + 1]);
        std::fs::create_dir(folder.0.join("folder.json")).unwrap();
        for (path, text) in [
            ("missing.json", "Strategy file not found: missing.json - "),
            ("folder.json", "Strategy file not found: folder.json - "),
            ("large.json", "Strategy validation failed:\n  - file: keep it within"),
            (
                "strategy.toml",
                "Strategy validation failed:\n  - file: its name must end in",
            ),
        ] {
            let error = load_now(path, &folder.0).unwrap_err();
            assert!(error.starts_with(text), "{error}");
        }
    }
}
