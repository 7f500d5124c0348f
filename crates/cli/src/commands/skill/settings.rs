//! The settings of one skill, written to its front matter and read back from there.

use anyhow::{Context, Result, bail};
use countersign_protocol::a2h::{AuthScheme, CallbackAuth, Kind};

use super::front_matter::FrontMatter;
use super::values;
use crate::args::SignatureAlgArg;

#[derive(Debug, Clone, PartialEq)]
pub struct SkillSettings {
    pub kind: Kind,
    pub app: String,
    pub hub: String,
    pub agent: String,
    pub runtime: String,
    pub project: Option<String>,
    /// None for a notify, which has no outcome.
    pub return_path: Option<ReturnPath>,
    /// Empty for a notify, which needs no resolver.
    pub resolvers: Vec<String>,
    pub token_env: String,
    pub signing_key_env: String,
    pub seal_key_env: String,
}

/// How the outcome comes back.
#[derive(Debug, Clone, PartialEq)]
pub enum ReturnPath {
    Push(PushSettings),
    Pull,
}

#[derive(Debug, Clone, PartialEq)]
pub struct PushSettings {
    pub callback: String,
    pub signature_alg: SignatureAlgArg,
    pub auth: Option<CallbackAuth>,
}

impl PushSettings {
    /// Whether the push is signed with a secret that the receiver has; a named HMAC secret replaces the agent's
    /// algorithm.
    pub fn has_shared_key(&self) -> bool {
        self.signature_alg == SignatureAlgArg::HmacSha256 || self.hmac_secret().is_some()
    }

    /// The name of the secret that signs in the place of the agent's signing key.
    pub fn hmac_secret(&self) -> Option<&str> {
        let auth = self.auth.as_ref().filter(|auth| auth.scheme == AuthScheme::Hmac);
        auth.map(|auth| auth.reference.as_str())
    }
}

const KIND: &str = "countersign-kind";
const HUB: &str = "countersign-hub";
const AGENT: &str = "countersign-agent";
const RUNTIME: &str = "countersign-runtime";
const PROJECT: &str = "countersign-project";
const MODE: &str = "countersign-mode";
const CALLBACK: &str = "countersign-callback";
const SIGNATURE_ALG: &str = "countersign-signature-alg";
const CALLBACK_AUTH: &str = "countersign-callback-auth";
const RESOLVERS: &str = "countersign-resolvers";
const TOKEN_ENV: &str = "countersign-token-env";
const SIGNING_KEY_ENV: &str = "countersign-signing-key-env";
const SEAL_KEY_ENV: &str = "countersign-seal-key-env";
pub const DEFAULT_RUNTIME: &str = "cli";

impl SkillSettings {
    pub fn name(&self) -> String {
        format!("{}-{}", self.app, self.kind)
    }

    pub fn push(&self) -> Option<&PushSettings> {
        match &self.return_path {
            Some(ReturnPath::Push(push)) => Some(push),
            Some(ReturnPath::Pull) | None => None,
        }
    }

    /// The environment variables this skill needs.
    pub fn variables(&self) -> Vec<&str> {
        let mut names = vec![self.token_env.as_str()];
        if self.push().is_some_and(PushSettings::has_shared_key) {
            names.push(&self.signing_key_env);
        }
        if self.kind != Kind::Notify {
            names.push(&self.seal_key_env);
        }
        names
    }

    pub fn front_matter(&self) -> FrontMatter {
        let mut metadata = vec![
            (KIND, self.kind.to_string()),
            (HUB, self.hub.clone()),
            (AGENT, self.agent.clone()),
            (RUNTIME, self.runtime.clone()),
            (TOKEN_ENV, self.token_env.clone()),
        ];
        metadata.extend(self.project.clone().map(|project| (PROJECT, project)));
        match &self.return_path {
            Some(ReturnPath::Push(push)) => metadata.extend(self.push_metadata(push)),
            Some(ReturnPath::Pull) => metadata.push((MODE, "pull".to_owned())),
            None => {}
        }
        if self.kind != Kind::Notify {
            metadata.extend([
                (RESOLVERS, self.resolvers.join(" ")),
                (SEAL_KEY_ENV, self.seal_key_env.clone()),
            ]);
        }
        let metadata = metadata
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value))
            .collect();
        FrontMatter {
            name: self.name(),
            description: self.description(),
            metadata,
        }
    }

    fn push_metadata(&self, push: &PushSettings) -> Vec<(&'static str, String)> {
        let mut metadata = vec![
            (MODE, "push".to_owned()),
            (CALLBACK, push.callback.clone()),
            (SIGNATURE_ALG, push.signature_alg.as_str().to_owned()),
        ];
        metadata.extend(push.auth.as_ref().map(|auth| (CALLBACK_AUTH, auth_text(auth))));
        if push.has_shared_key() {
            metadata.push((SIGNING_KEY_ENV, self.signing_key_env.clone()));
        }
        metadata
    }

    fn description(&self) -> String {
        let app = &self.app;
        let agent = &self.agent;
        match self.kind {
            Kind::Ask => format!(
                "Ask a person for a decision on behalf of {app} (agent {agent}) and act on the answer at most once. Use \
                 before a step that cannot be taken back, costs money, reaches people outside or needs approval, and \
                 when coming back for an answer."
            ),
            Kind::Task => format!(
                "Give a person work on behalf of {app} (agent {agent}) and go on when it is completed. Use when \
                 something has to be done that only a person can do, and when coming back for its outcome."
            ),
            Kind::Notify => format!(
                "Tell people something on behalf of {app} (agent {agent}). Use when a person would want to know about it \
                 and need not decide or do anything."
            ),
        }
    }

    /// Reads the output of [`SkillSettings::front_matter`]; every value is checked again, because people edit these files.
    pub fn from_front_matter(front: &FrontMatter) -> Result<Self> {
        let kind: Kind = front
            .required(KIND)?
            .parse()
            .ok()
            .with_context(|| format!("{KIND} is ask, notify or task"))?;
        let app = front.name.strip_suffix(&format!("-{kind}"));
        let app = app.with_context(|| format!("name must end with -{kind}, because {KIND} is {kind}"))?;
        let variable = |key: &str, otherwise: &str| {
            values::variable(front.get(key).unwrap_or(otherwise)).with_context(|| key.to_owned())
        };
        let return_path = if kind == Kind::Notify {
            None
        } else {
            Some(return_path(front)?)
        };
        Ok(Self {
            kind,
            app: values::app(app).context("name")?,
            hub: values::hub(front.required(HUB)?).context(HUB)?,
            agent: values::agent(front.required(AGENT)?).context(AGENT)?,
            runtime: values::runtime(front.get(RUNTIME).unwrap_or(DEFAULT_RUNTIME)).context(RUNTIME)?,
            project: front.get(PROJECT).map(values::project).transpose().context(PROJECT)?,
            resolvers: match kind {
                Kind::Notify => Vec::new(),
                Kind::Ask | Kind::Task => values::resolvers(front.required(RESOLVERS)?).context(RESOLVERS)?,
            },
            return_path,
            token_env: variable(TOKEN_ENV, "COUNTERSIGN_TOKEN")?,
            signing_key_env: variable(SIGNING_KEY_ENV, "COUNTERSIGN_SIGNING_KEY")?,
            seal_key_env: variable(SEAL_KEY_ENV, "COUNTERSIGN_SEAL_KEY")?,
        })
    }
}

fn return_path(front: &FrontMatter) -> Result<ReturnPath> {
    match front.required(MODE)? {
        "pull" => Ok(ReturnPath::Pull),
        "push" => {
            let alg = front
                .get(SIGNATURE_ALG)
                .map_or(Ok(SignatureAlgArg::HmacSha256), values::signature_alg);
            let auth = front.get(CALLBACK_AUTH).map(values::callback_auth).transpose();
            Ok(ReturnPath::Push(PushSettings {
                callback: values::callback(front.required(CALLBACK)?).context(CALLBACK)?,
                signature_alg: alg.context(SIGNATURE_ALG)?,
                auth: auth.context(CALLBACK_AUTH)?,
            }))
        }
        _ => bail!("{MODE} is push or pull"),
    }
}

/// The spelling of `--callback-auth`.
pub fn auth_text(auth: &CallbackAuth) -> String {
    format!("{}={}", auth.scheme, auth.reference)
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub fn settings(kind: Kind, return_path: Option<ReturnPath>) -> SkillSettings {
        let resolvers = if kind == Kind::Notify {
            vec![]
        } else {
            vec!["human:ann".to_owned(), "human:bob".to_owned()]
        };
        SkillSettings {
            kind,
            app: "acme".to_owned(),
            hub: "https://hub.example".to_owned(),
            agent: "acme/deployer".to_owned(),
            runtime: "cloud".to_owned(),
            project: (kind == Kind::Ask).then(|| "acme-shop".to_owned()),
            return_path,
            resolvers,
            token_env: "ACME_TOKEN".to_owned(),
            signing_key_env: "COUNTERSIGN_SIGNING_KEY".to_owned(),
            seal_key_env: "COUNTERSIGN_SEAL_KEY".to_owned(),
        }
    }

    pub fn push() -> ReturnPath {
        pushed(SignatureAlgArg::HmacSha256, None)
    }

    pub fn pushed(signature_alg: SignatureAlgArg, auth: Option<&str>) -> ReturnPath {
        ReturnPath::Push(PushSettings {
            callback: "https://hooks.example/acme/resume".to_owned(),
            signature_alg,
            auth: auth.map(|text| values::callback_auth(text).unwrap()),
        })
    }

    pub fn every_kind() -> Vec<SkillSettings> {
        let ed25519 = SignatureAlgArg::Ed25519;
        vec![
            settings(Kind::Ask, Some(push())),
            settings(Kind::Ask, Some(pushed(ed25519, None))),
            settings(Kind::Ask, Some(pushed(ed25519, Some("hmac=env:ACME_HOOK")))),
            settings(Kind::Task, Some(pushed(ed25519, Some("bearer=acme-hook")))),
            settings(Kind::Ask, Some(ReturnPath::Pull)),
            settings(Kind::Task, Some(push())),
            settings(Kind::Task, Some(ReturnPath::Pull)),
            settings(Kind::Notify, None),
        ]
    }

    #[test]
    fn settings_read_back_from_the_front_matter() {
        for settings in every_kind() {
            assert_eq!(
                SkillSettings::from_front_matter(&settings.front_matter()).unwrap(),
                settings
            );
        }
    }

    #[test]
    fn front_matter_changed_by_hand_is_checked_again() {
        let good = settings(Kind::Ask, Some(push())).front_matter();
        for (key, value) in [
            (KIND, "question"),
            (KIND, "task"),
            (MODE, "both"),
            (CALLBACK, "http://hooks.example/"),
            (CALLBACK, "https://hooks.example/?key=x"),
            (HUB, "http://hub.example"),
            (RESOLVERS, "human:*"),
            (AGENT, "a b"),
            (TOKEN_ENV, "csa_BeqyUGBX"),
            (SIGNATURE_ALG, "rsa"),
            (RUNTIME, "mainframe"),
        ] {
            let mut changed = good.clone();
            changed.metadata.insert(key.to_owned(), value.to_owned());
            assert!(SkillSettings::from_front_matter(&changed).is_err(), "{key}: {value}");
            changed.metadata.remove(key);
            let optional = [TOKEN_ENV, SIGNATURE_ALG, RUNTIME].contains(&key);
            assert_eq!(
                SkillSettings::from_front_matter(&changed).is_ok(),
                optional,
                "{key} left out"
            );
        }
    }
}
