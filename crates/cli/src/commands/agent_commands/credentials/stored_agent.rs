//! The credential of an agent on this machine, stored in the data directory of its hub.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use countersign_client::hub::{HubClient, typed};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// File systems allow 255 bytes; the rest is for the extension and the temporary file's suffix.
const MAX_FILE_NAME_BYTES: usize = 200;
/// Retries while another process that added the agent writes its file.
const MAX_READ_RETRIES: u32 = 20;
const READ_RETRY_INTERVAL: Duration = Duration::from_millis(100);

#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredAgent {
    pub agent_id: String,
    pub token: String,
    pub signing_key: String,
}

impl StoredAgent {
    pub fn read(data: &Path, agent_id: &str) -> Result<Option<Self>> {
        let path = path(data, agent_id)?;
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
            Err(error) => return Err(error).with_context(|| format!("{} cannot be read", path.display())),
        };
        // The parser's error would quote the file, which holds a token. The id is compared because a case-insensitive
        // file system may map two ids to one file.
        let stored: Option<Self> = serde_json::from_str(&text).ok();
        match stored.filter(|stored| stored.agent_id == agent_id) {
            Some(stored) => Ok(Some(stored)),
            None => bail!(
                "{} is not the credential of {agent_id}: {}",
                path.display(),
                advice(agent_id)
            ),
        }
    }

    /// The stored credential; if there is none, the agent is added with the owner's rights.
    pub async fn read_or_add(data: &Path, agent_id: &str, owner: &HubClient) -> Result<Self> {
        if let Some(stored) = Self::read(data, agent_id)? {
            return Ok(stored);
        }
        match owner.post(&["v1", "admin", "agents"], &json!({ "id": agent_id })).await {
            Ok(reply) => {
                let added: Self = typed(&reply)?;
                added.write(data)?;
                Ok(added)
            }
            Err(error) if error.has_code("already_exists") => Self::written_by_another(data, agent_id).await,
            Err(error) => Err(error.into()),
        }
    }

    /// Two commands that start together both find no file; the second one waits for the first one's file.
    async fn written_by_another(data: &Path, agent_id: &str) -> Result<Self> {
        for _ in 0..MAX_READ_RETRIES {
            tokio::time::sleep(READ_RETRY_INTERVAL).await;
            if let Some(stored) = Self::read(data, agent_id)? {
                return Ok(stored);
            }
        }
        Err(anyhow!(
            "the agent {agent_id} exists, but its token is not stored on this machine: {}",
            advice(agent_id)
        ))
    }

    /// Replaces the stored credential of the same agent, if there is one. An unreadable file is replaced as well; the
    /// file of another agent is not.
    pub fn renew(&self, data: &Path) -> Result<()> {
        let path = path(data, &self.agent_id)?;
        let Ok(text) = fs::read(&path) else { return Ok(()) };
        let stored: Option<Self> = serde_json::from_slice(&text).ok();
        if stored.is_some_and(|stored| stored.agent_id != self.agent_id) {
            return Ok(());
        }
        self.write(data)
    }

    /// The signing keys of all agents stored here.
    pub fn signing_keys(data: &Path) -> Vec<String> {
        let files = fs::read_dir(data.join("agents"))
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path());
        let texts = files
            .filter(|path| path.extension().is_some_and(|end| end == "json"))
            .filter_map(|path| fs::read(path).ok());
        texts
            .filter_map(|text| serde_json::from_slice(&text).ok())
            .map(|stored: Self| stored.signing_key)
            .collect()
    }

    /// Written to a temporary file and renamed, so that no reader sees a partial file.
    fn write(&self, data: &Path) -> Result<()> {
        let path = path(data, &self.agent_id)?;
        let draft = path.with_extension(format!("json.{}", std::process::id()));
        let written = make_private_dir(&path).and_then(|()| {
            let mut file = OpenOptions::new()
                .create(true)
                .truncate(true)
                .write(true)
                .mode(0o600)
                .open(&draft)?;
            file.write_all(serde_json::to_string(self)?.as_bytes())?;
            file.sync_all()?;
            Ok(fs::rename(&draft, &path)?)
        });
        let agent_id = &self.agent_id;
        written.with_context(|| {
            format!(
                "the new token of the agent {agent_id} could not be stored in {}: {}",
                path.display(),
                advice(agent_id)
            )
        })
    }
}

fn advice(agent_id: &str) -> String {
    format!(
        "`countersign agent rotate {agent_id}` gives it a new token; set COUNTERSIGN_TOKEN to that, and COUNTERSIGN_AGENT \
         to {agent_id}"
    )
}

/// Creates the private directory of `file`.
fn make_private_dir(file: &Path) -> Result<()> {
    let Some(directory) = file.parent().filter(|parent| !parent.as_os_str().is_empty()) else {
        return Ok(());
    };
    let made = DirBuilder::new().recursive(true).mode(0o700).create(directory);
    made.with_context(|| format!("the directory {} cannot be made", directory.display()))
}

pub fn path(data: &Path, agent_id: &str) -> Result<PathBuf> {
    let name = file_name(agent_id);
    if name.len() > MAX_FILE_NAME_BYTES {
        bail!("the agent's id is too long to store its token: set COUNTERSIGN_TOKEN and COUNTERSIGN_AGENT");
    }
    Ok(data.join("agents").join(name + ".json"))
}

/// Ids may hold slashes and other special bytes; each is written as `%` and two hex digits.
fn file_name(agent_id: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    agent_id
        .bytes()
        .map(|byte| {
            if plain(byte) {
                char::from(byte).to_string()
            } else {
                format!("%{byte:02x}")
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Self {
            Self(std::env::temp_dir().join(format!("countersign-kept-{}-{name}", std::process::id())))
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn agent(id: &str) -> StoredAgent {
        StoredAgent {
            agent_id: id.to_owned(),
            token: "csa_t".to_owned(),
            signing_key: "whsec_k".to_owned(),
        }
    }

    #[test]
    fn a_stored_credential_is_found_again_and_private() {
        let scratch = Scratch::new("private");
        assert!(StoredAgent::read(&scratch.0, "acme/bot").unwrap().is_none());
        agent("acme/bot").write(&scratch.0).unwrap();
        assert!(StoredAgent::read(&scratch.0, "acme/bot").unwrap() == Some(agent("acme/bot")));
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&scratch.0.join("agents")), 0o700);
        assert_eq!(mode(&scratch.0.join("agents/acme%2fbot.json")), 0o600);
    }

    #[test]
    fn only_a_stored_credential_is_renewed() {
        let scratch = Scratch::new("renewed");
        agent("bot").renew(&scratch.0).unwrap();
        assert!(StoredAgent::read(&scratch.0, "bot").unwrap().is_none());
        agent("bot").write(&scratch.0).unwrap();
        let newer = StoredAgent {
            token: "csa_new".to_owned(),
            signing_key: "whsec_new".to_owned(),
            ..agent("bot")
        };
        newer.renew(&scratch.0).unwrap();
        assert!(StoredAgent::read(&scratch.0, "bot").unwrap() == Some(newer));
        assert_eq!(StoredAgent::signing_keys(&scratch.0), ["whsec_new"]);
        fs::copy(scratch.0.join("agents/bot.json"), scratch.0.join("agents/BOT.json")).unwrap();
        agent("BOT").renew(&scratch.0).unwrap();
        assert!(
            StoredAgent::read(&scratch.0, "BOT").is_err(),
            "the file of another agent stays as it is"
        );
    }

    #[test]
    fn a_damaged_file_is_named_without_its_content() {
        let scratch = Scratch::new("damaged");
        agent("bot").write(&scratch.0).unwrap();
        fs::write(scratch.0.join("agents/bot.json"), "csa_secret").unwrap();
        let error = format!("{:#}", StoredAgent::read(&scratch.0, "bot").err().unwrap());
        assert!(
            error.contains("agent rotate bot") && !error.contains("csa_secret"),
            "{error}"
        );
    }

    #[test]
    fn file_names_stay_inside_the_directory_and_never_collide() {
        assert_eq!(file_name("../x"), "%2e%2e%2fx");
        assert_eq!(file_name("a%2fb"), "a%252fb");
        assert_eq!(file_name("é"), "%c3%a9");
        assert!(path(Path::new("d"), &"é".repeat(100)).is_err());
    }
}
