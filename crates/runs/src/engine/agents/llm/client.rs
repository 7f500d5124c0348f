//! HTTP clients for the configured endpoints.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder};
use url::{Host, Url};

use crate::settings::{Endpoint, LlmSettings, Secret};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const POOL_IDLE_TIMEOUT: Duration = Duration::from_secs(60);

pub struct Models {
    default: Option<LlmEndpoint>,
    named: BTreeMap<String, LlmEndpoint>,
    pub timeouts: LlmTimeouts,
}

/// Timeouts and retries.
#[derive(Debug, Clone, Copy)]
pub struct LlmTimeouts {
    pub whole: Duration,
    pub idle: Duration,
    pub retries: u32,
    pub first_retry: Duration,
}

pub struct LlmEndpoint {
    pub client: Client,
    pub url: Url,
    pub key: Option<Secret>,
}

impl Models {
    pub fn new(settings: &LlmSettings) -> Result<Self> {
        let mut clients = Clients::default();
        let default = settings
            .endpoint
            .as_ref()
            .map(|endpoint| clients.llm_endpoint("llm", endpoint))
            .transpose()?;
        let named = settings.providers.iter().map(|(name, endpoint)| {
            let llm_endpoint = clients.llm_endpoint(&format!("llm.providers.{name}"), endpoint)?;
            Ok((name.clone(), llm_endpoint))
        });
        Ok(Self {
            default,
            named: named.collect::<Result<_>>()?,
            timeouts: LlmTimeouts {
                whole: settings.timeout,
                idle: settings.idle_timeout,
                retries: settings.max_retries,
                first_retry: settings.first_retry,
            },
        })
    }

    /// The endpoint of a model, and the name of the model there.
    pub fn endpoint_for<'a>(&'a self, model: &'a str) -> Result<(&'a LlmEndpoint, &'a str), String> {
        let named = model
            .split_once('/')
            .and_then(|(name, rest)| Some((self.named.get(name)?, rest)));
        named
            .or_else(|| self.default.as_ref().map(|llm_endpoint| (llm_endpoint, model)))
            .ok_or_else(|| {
                format!(
                    "the model \"{model}\" has no endpoint: set base_url, and api_key or api_key_env where a key is \
                 needed, under [llm] in the hub's configuration, or under [llm.providers.NAME] for models called \
                 NAME/…"
                )
            })
    }
}

/// Created lazily: each client loads the certificate authorities of the system.
#[derive(Default)]
struct Clients {
    local: Option<Client>,
    remote: Option<Client>,
}

impl Clients {
    fn llm_endpoint(&mut self, table: &str, endpoint: &Endpoint) -> Result<LlmEndpoint> {
        let key = endpoint.key.read().map_err(|why| anyhow!("{table}.{why}"))?;
        if key.is_some() && endpoint.base_url.scheme() == "http" && !is_local(&endpoint.base_url) {
            tracing::warn!(table, "the API key of this endpoint is sent over plain HTTP; use https");
        }
        let client = self
            .client(is_local(&endpoint.base_url))
            .context("cannot create the HTTP client for models")?;
        Ok(LlmEndpoint {
            client,
            url: completions(&endpoint.base_url),
            key,
        })
    }

    fn client(&mut self, local: bool) -> reqwest::Result<Client> {
        let slot = if local { &mut self.local } else { &mut self.remote };
        if let Some(client) = slot {
            return Ok(client.clone());
        }
        let made = builder(local).build().or_else(|error| {
            tracing::warn!(
                ?error,
                "no certificate authorities found on this system; model calls over https will fail"
            );
            builder(local).tls_certs_only([]).build()
        })?;
        Ok(slot.insert(made).clone())
    }
}

fn builder(local: bool) -> ClientBuilder {
    let builder = Client::builder()
        .user_agent(concat!("countersign/", env!("CARGO_PKG_VERSION")))
        // A followed redirect would send the key to another host.
        .redirect(Policy::none())
        .referer(false)
        .retry(reqwest::retry::never())
        .connect_timeout(CONNECT_TIMEOUT)
        .pool_idle_timeout(POOL_IDLE_TIMEOUT);
    // A proxy from the environment cannot reach a server on this machine.
    if local { builder.no_proxy() } else { builder }
}

fn is_local(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

fn completions(base: &Url) -> Url {
    let mut url = base.clone();
    url.set_path(&format!("{}/chat/completions", base.path().trim_end_matches('/')));
    url
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::ApiKey;

    fn endpoint(url: &str) -> Endpoint {
        Endpoint {
            base_url: Url::parse(url).unwrap(),
            key: ApiKey::None,
        }
    }

    #[test]
    fn a_model_uses_its_named_provider_or_the_default_endpoint() {
        let mut settings = LlmSettings {
            endpoint: Some(endpoint("http://127.0.0.1:1")),
            ..LlmSettings::default()
        };
        settings
            .providers
            .insert("near".to_owned(), endpoint("http://localhost:11434/v1/"));
        let models = Models::new(&settings).unwrap();
        let message = |model| {
            models
                .endpoint_for(model)
                .map(|(llm_endpoint, name)| format!("{} {name}", llm_endpoint.url))
                .unwrap()
        };
        assert_eq!(
            message("near/qwen/3"),
            "http://localhost:11434/v1/chat/completions qwen/3"
        );
        assert_eq!(message("other/big"), "http://127.0.0.1:1/chat/completions other/big");
        assert_eq!(message("plain"), "http://127.0.0.1:1/chat/completions plain");
    }

    #[test]
    fn a_missing_endpoint_error_names_the_settings() {
        let models = Models::new(&LlmSettings::default()).unwrap();
        let Err(error) = models.endpoint_for("gpt") else {
            panic!("there is no endpoint")
        };
        assert!(
            error.contains("\"gpt\"") && error.contains("base_url") && error.contains("[llm]"),
            "{error}"
        );
    }

    #[test]
    fn a_missing_key_fails_at_startup() {
        let key = ApiKey::FromEnv("COUNTERSIGN_NO_SUCH_KEY".to_owned());
        let mut settings = LlmSettings::default();
        settings.providers.insert(
            "a".to_owned(),
            Endpoint {
                key,
                ..endpoint("http://127.0.0.1:1")
            },
        );
        let Err(error) = Models::new(&settings) else {
            panic!("the key does not exist")
        };
        assert!(
            error
                .to_string()
                .starts_with("llm.providers.a.api_key_env: the environment variable"),
            "{error}"
        );
    }
}
