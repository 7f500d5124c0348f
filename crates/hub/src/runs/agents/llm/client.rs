//! The connections to endpoints, one line for each that the operator named.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder};
use url::{Host, Url};

use crate::config::{Endpoint, LlmSettings, Secret};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const UNUSED_FOR: Duration = Duration::from_secs(60);

pub struct Models {
    usual: Option<Line>,
    named: BTreeMap<String, Line>,
    pub patience: Patience,
}

/// How long to wait, and how often to try.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    pub whole: Duration,
    pub idle: Duration,
    pub retries: u32,
    pub first_retry: Duration,
}

pub struct Line {
    pub client: Client,
    pub url: Url,
    pub key: Option<Secret>,
}

impl Models {
    pub fn new(settings: &LlmSettings) -> Result<Self> {
        let mut clients = Clients::default();
        let usual = settings
            .endpoint
            .as_ref()
            .map(|endpoint| clients.line("llm", endpoint))
            .transpose()?;
        let named = settings.providers.iter().map(|(name, endpoint)| {
            let line = clients.line(&format!("llm.providers.{name}"), endpoint)?;
            Ok((name.clone(), line))
        });
        Ok(Self {
            usual,
            named: named.collect::<Result<_>>()?,
            patience: Patience {
                whole: settings.timeout,
                idle: settings.idle_timeout,
                retries: settings.max_retries,
                first_retry: settings.first_retry,
            },
        })
    }

    /// Where a model is, and what it is called there.
    pub fn line_of<'a>(&'a self, model: &'a str) -> Result<(&'a Line, &'a str), String> {
        let named = model
            .split_once('/')
            .and_then(|(name, rest)| Some((self.named.get(name)?, rest)));
        named
            .or_else(|| self.usual.as_ref().map(|line| (line, model)))
            .ok_or_else(|| {
                format!(
                    "the model \"{model}\" has no endpoint: set base_url, and api_key or api_key_env where a key is \
                 needed, under [llm] in the hub's configuration, or under [llm.providers.NAME] for models called \
                 NAME/…"
                )
            })
    }
}

/// Made when first needed: each holds the certificate authorities of the system.
#[derive(Default)]
struct Clients {
    near: Option<Client>,
    far: Option<Client>,
}

impl Clients {
    fn line(&mut self, table: &str, endpoint: &Endpoint) -> Result<Line> {
        let key = endpoint.key.read().map_err(|why| anyhow!("{table}.{why}"))?;
        if key.is_some() && endpoint.base_url.scheme() == "http" && !is_near(&endpoint.base_url) {
            tracing::warn!(table, "the key of this endpoint goes over the network in plain HTTP");
        }
        let client = self
            .client(is_near(&endpoint.base_url))
            .context("no HTTP client for models")?;
        Ok(Line {
            client,
            url: completions(&endpoint.base_url),
            key,
        })
    }

    fn client(&mut self, near: bool) -> reqwest::Result<Client> {
        let place = if near { &mut self.near } else { &mut self.far };
        if let Some(client) = place {
            return Ok(client.clone());
        }
        let made = builder(near).build().or_else(|error| {
            tracing::warn!(
                ?error,
                "no certificate authorities found on this system: models over https will fail"
            );
            builder(near).tls_certs_only([]).build()
        })?;
        Ok(place.insert(made).clone())
    }
}

fn builder(near: bool) -> ClientBuilder {
    let builder = Client::builder()
        .user_agent(concat!("countersign/", env!("CARGO_PKG_VERSION")))
        // Followed, the key would go wherever the answer says.
        .redirect(Policy::none())
        .referer(false)
        .retry(reqwest::retry::never())
        .connect_timeout(CONNECT_TIMEOUT)
        .pool_idle_timeout(UNUSED_FOR);
    // A proxy of the environment is for the world, and would not find what runs on this machine.
    if near { builder.no_proxy() } else { builder }
}

fn is_near(url: &Url) -> bool {
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
    use crate::config::Key;

    fn endpoint(url: &str) -> Endpoint {
        Endpoint {
            base_url: Url::parse(url).unwrap(),
            key: Key::None,
        }
    }

    #[test]
    fn a_model_goes_to_the_provider_it_names_and_else_to_the_usual_place() {
        let mut settings = LlmSettings {
            endpoint: Some(endpoint("http://127.0.0.1:1")),
            ..LlmSettings::default()
        };
        settings
            .providers
            .insert("near".to_owned(), endpoint("http://localhost:11434/v1/"));
        let models = Models::new(&settings).unwrap();
        let told = |model| {
            models
                .line_of(model)
                .map(|(line, name)| format!("{} {name}", line.url))
                .unwrap()
        };
        assert_eq!(told("near/qwen/3"), "http://localhost:11434/v1/chat/completions qwen/3");
        assert_eq!(told("other/big"), "http://127.0.0.1:1/chat/completions other/big");
        assert_eq!(told("plain"), "http://127.0.0.1:1/chat/completions plain");
    }

    #[test]
    fn without_an_endpoint_the_settings_are_named() {
        let models = Models::new(&LlmSettings::default()).unwrap();
        let Err(said) = models.line_of("gpt") else {
            panic!("there is no endpoint")
        };
        assert!(
            said.contains("\"gpt\"") && said.contains("base_url") && said.contains("[llm]"),
            "{said}"
        );
    }

    #[test]
    fn a_key_that_is_not_there_is_told_at_the_start() {
        let key = Key::FromEnv("COUNTERSIGN_NO_SUCH_KEY".to_owned());
        let mut settings = LlmSettings::default();
        settings.providers.insert(
            "a".to_owned(),
            Endpoint {
                key,
                ..endpoint("http://127.0.0.1:1")
            },
        );
        let Err(error) = Models::new(&settings) else {
            panic!("the key is nowhere")
        };
        assert!(
            error
                .to_string()
                .starts_with("llm.providers.a.api_key_env: the environment variable"),
            "{error}"
        );
    }
}
