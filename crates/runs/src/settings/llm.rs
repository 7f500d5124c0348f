//! `[llm]`: model endpoints, API keys and time-outs.

use std::collections::BTreeMap;
use std::env::VarError;
use std::time::Duration;

use serde::Deserialize;
use url::Url;

use super::InvalidSetting;
use super::secret::Secret;

const DAY: u64 = 24 * 3600;
/// Backoff doubles with each retry; more retries would outlast any time-out.
pub const MAX_RETRIES: u32 = 10;
const MAX_NAME_BYTES: usize = 100;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LlmTable {
    pub base_url: Option<String>,
    pub api_key: Option<Secret>,
    pub api_key_env: Option<String>,
    pub timeout_seconds: Option<u64>,
    pub idle_timeout_seconds: Option<u64>,
    pub max_retries: Option<u32>,
    pub providers: BTreeMap<String, ProviderTable>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProviderTable {
    pub base_url: String,
    pub api_key: Option<Secret>,
    pub api_key_env: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LlmSettings {
    /// For models whose name has no provider prefix.
    pub endpoint: Option<Endpoint>,
    /// Keyed by the provider prefix of a model name.
    pub providers: BTreeMap<String, Endpoint>,
    /// For one whole answer, from the first attempt to its last token.
    pub timeout: Duration,
    /// Between two chunks of an answer.
    pub idle_timeout: Duration,
    pub max_retries: u32,
    /// Backoff before the first retry; it doubles from there.
    pub first_retry: Duration,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    pub base_url: Url,
    pub key: ApiKey,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApiKey {
    None,
    Given(Secret),
    /// Name of an environment variable, read when the hub starts.
    FromEnv(String),
}

impl ApiKey {
    /// Fails when the named variable is missing or holds no valid key.
    pub fn read(&self) -> Result<Option<Secret>, String> {
        match self {
            Self::None => Ok(None),
            Self::Given(key) => Ok(Some(key.clone())),
            Self::FromEnv(name) => match std::env::var(name) {
                Ok(text) => check_key(&format!("api_key_env: {name}"), Secret::new(text)).map(Some),
                Err(VarError::NotPresent) => Err(format!("api_key_env: the environment variable {name} is not set")),
                Err(VarError::NotUnicode(_)) => Err(format!("api_key_env: the value of {name} is not valid UTF-8")),
            },
        }
    }
}

impl Default for LlmSettings {
    fn default() -> Self {
        Self {
            endpoint: None,
            providers: BTreeMap::new(),
            timeout: Duration::from_secs(600),
            idle_timeout: Duration::from_secs(60),
            max_retries: 2,
            first_retry: Duration::from_millis(500),
        }
    }
}

impl LlmSettings {
    /// Whether runs can reach any model.
    pub fn has_models(&self) -> bool {
        self.endpoint.is_some() || !self.providers.is_empty()
    }

    pub fn resolve(table: LlmTable) -> Result<Self, InvalidSetting> {
        let defaults = Self::default();
        let settings = Self {
            endpoint: default_endpoint(table.base_url, table.api_key, table.api_key_env)?,
            providers: table.providers.into_iter().map(provider).collect::<Result<_, _>>()?,
            timeout: table.timeout_seconds.map_or(defaults.timeout, Duration::from_secs),
            idle_timeout: table
                .idle_timeout_seconds
                .map_or(defaults.idle_timeout, Duration::from_secs),
            max_retries: table.max_retries.unwrap_or(defaults.max_retries),
            first_retry: defaults.first_retry,
        };
        for (key, value) in [
            ("llm.timeout_seconds", settings.timeout),
            ("llm.idle_timeout_seconds", settings.idle_timeout),
        ] {
            if !(1..=DAY).contains(&value.as_secs()) {
                return Err(InvalidSetting::new(key, "choose between 1 second and a day (86400)"));
            }
        }
        if settings.max_retries > MAX_RETRIES {
            return Err(InvalidSetting::new("llm.max_retries", format!("at most {MAX_RETRIES}")));
        }
        Ok(settings)
    }

    /// Names of the environment variables that hold keys.
    pub fn key_variables(&self) -> impl Iterator<Item = &str> {
        self.endpoint
            .iter()
            .chain(self.providers.values())
            .filter_map(|endpoint| match &endpoint.key {
                ApiKey::FromEnv(name) => Some(name.as_str()),
                ApiKey::None | ApiKey::Given(_) => None,
            })
    }
}

fn default_endpoint(
    base_url: Option<String>,
    api_key: Option<Secret>,
    api_key_env: Option<String>,
) -> Result<Option<Endpoint>, InvalidSetting> {
    let Some(base_url) = base_url else {
        if api_key.is_some() || api_key_env.is_some() {
            return Err(InvalidSetting::new("llm", "an API key is set without a base_url"));
        }
        return Ok(None);
    };
    endpoint(&base_url, api_key, api_key_env)
        .map(Some)
        .map_err(|message| InvalidSetting::new("llm", message))
}

fn provider((name, table): (String, ProviderTable)) -> Result<(String, Endpoint), InvalidSetting> {
    let wrong = |message: String| InvalidSetting::new("llm.providers", format!("{name:?}: {message}"));
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if name.is_empty() || name.len() > MAX_NAME_BYTES || !name.chars().all(plain) {
        let message = format!("a provider name may have up to {MAX_NAME_BYTES} characters of A-Z a-z 0-9 . _ -");
        return Err(wrong(message));
    }
    let endpoint = endpoint(&table.base_url, table.api_key, table.api_key_env).map_err(wrong)?;
    Ok((name, endpoint))
}

fn endpoint(base_url: &str, api_key: Option<Secret>, api_key_env: Option<String>) -> Result<Endpoint, String> {
    let base_url = parse_base_url(base_url)?;
    let key = match (api_key, api_key_env) {
        (None, None) => ApiKey::None,
        (Some(key), None) => ApiKey::Given(check_key("api_key", key)?),
        (None, Some(name)) if name.is_empty() || name.contains(['=', '\0']) => {
            return Err(format!(
                "api_key_env: {name:?} is not a valid name of an environment variable"
            ));
        }
        (None, Some(name)) => ApiKey::FromEnv(name),
        (Some(_), Some(_)) => return Err("give api_key or api_key_env, not both".to_owned()),
    };
    Ok(Endpoint { base_url, key })
}

/// A key is sent in a header unchanged. Errors never repeat it.
fn check_key(name: &str, key: Secret) -> Result<Secret, String> {
    match key.reveal() {
        "" => Err(format!("{name}: the key is empty; leave it out if none is needed")),
        text if text.bytes().all(|byte| byte.is_ascii_graphic()) => Ok(key),
        _ => Err(format!(
            "{name}: the key contains a space, a line break or another invalid character"
        )),
    }
}

fn parse_base_url(text: &str) -> Result<Url, String> {
    let url = Url::parse(text)
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https"));
    let Some(url) = url else {
        // Not repeated, because the text may be a misplaced key.
        return Err("base_url: not an http(s) URL; write it as https://api.example/v1".to_owned());
    };
    if !url.username().is_empty() || url.password().is_some() {
        return Err("base_url: leave out the user name and the password".to_owned());
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err("base_url: leave out everything from `?` or `#` on".to_owned());
    }
    if url.path().trim_end_matches('/').ends_with("/chat/completions") {
        return Err("base_url: leave out /chat/completions, which the hub adds itself".to_owned());
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(text: &str) -> Result<LlmSettings, String> {
        let table: LlmTable = toml::from_str(text).map_err(|error| error.message().to_owned())?;
        LlmSettings::resolve(table).map_err(|error| error.to_string())
    }

    #[test]
    fn by_default_there_is_no_endpoint() {
        assert_eq!(resolved("").unwrap(), LlmSettings::default());
    }

    #[test]
    fn providers_work_beside_the_default_endpoint() {
        let settings = resolved(
            r#"
            base_url = "https://api.example/v1"
            api_key = "sk-usual"
            timeout_seconds = 5
            idle_timeout_seconds = 3
            max_retries = 0
            [providers.near]
            base_url = "http://127.0.0.1:11434/v1/"
            [providers.far]
            base_url = "https://far.example/v1"
            api_key_env = "FAR_KEY"
            "#,
        )
        .unwrap();
        assert_eq!(
            settings.endpoint.as_ref().unwrap().base_url.as_str(),
            "https://api.example/v1"
        );
        assert_eq!(settings.providers.keys().collect::<Vec<_>>(), ["far", "near"]);
        assert_eq!(settings.providers["near"].key, ApiKey::None);
        assert_eq!(settings.key_variables().collect::<Vec<_>>(), ["FAR_KEY"]);
        assert_eq!(
            (
                settings.timeout.as_secs(),
                settings.idle_timeout.as_secs(),
                settings.max_retries
            ),
            (5, 3, 0)
        );
        assert!(
            !format!("{settings:?}").contains("sk-usual"),
            "Debug output must not show a key"
        );
    }

    #[test]
    fn key_is_read_from_the_named_variable() {
        let read = |name: &str| ApiKey::FromEnv(name.to_owned()).read();
        let manifest = read("CARGO_MANIFEST_DIR").unwrap().unwrap();
        assert_eq!(manifest.reveal(), env!("CARGO_MANIFEST_DIR"));
        assert!(
            read("COUNTERSIGN_NO_SUCH_KEY")
                .unwrap_err()
                .contains("COUNTERSIGN_NO_SUCH_KEY is not set")
        );
    }

    #[test]
    fn invalid_value_is_refused_with_its_key_and_without_secrets() {
        for (text, part) in [
            (r#"base_url = "api.example/sk-1""#, "llm: base_url: not an http(s) URL"),
            (
                r#"base_url = "https://ann:sk-1@api.example""#,
                "leave out the user name",
            ),
            (
                r#"base_url = "https://api.example/v1?key=sk-1""#,
                "leave out everything",
            ),
            (
                r#"base_url = "https://api.example/v1/chat/completions""#,
                "leave out /chat/completions",
            ),
            (r#"api_key = "sk-1""#, "llm: an API key is set without"),
            (
                "base_url = \"https://a.example\"\napi_key = \"sk-1\\n\"",
                "llm: api_key: the key contains",
            ),
            (
                "base_url = \"https://a.example\"\napi_key = \"\"",
                "llm: api_key: the key is empty",
            ),
            (
                "base_url = \"https://a.example\"\napi_key = \"sk-1\"\napi_key_env = \"K\"",
                "not both",
            ),
            (
                "base_url = \"https://a.example\"\napi_key_env = \"\"",
                "is not a valid name",
            ),
            (
                "[providers.\"a/b\"]\nbase_url = \"https://a.example\"",
                "llm.providers: \"a/b\": a provider name",
            ),
            ("[providers.a]\nbase_url = \"sk-1\"", "llm.providers: \"a\": base_url"),
            ("[providers.a]\napi_key = \"sk-1\"", "missing field `base_url`"),
            ("timeout_seconds = 0", "llm.timeout_seconds: "),
            ("idle_timeout_seconds = 86401", "llm.idle_timeout_seconds: "),
            ("max_retries = 11", "llm.max_retries: at most 10"),
            ("key = 1", "unknown field `key`"),
        ] {
            let error_text = resolved(text).unwrap_err();
            assert!(
                error_text.contains(part) && !error_text.contains("sk-1"),
                "{error_text}"
            );
        }
    }
}
