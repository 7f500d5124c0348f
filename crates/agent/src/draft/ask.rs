//! The builder for asks.

use countersign_protocol::a2h::{Kind, Mode, Version};
use countersign_protocol::time::Timestamp;
use serde_json::{Map, Value, json};

use super::address::{Addressed, Unaddressed};
use super::common::{Common, common_setters, outcome_setters};
use super::form::text_schema;
use super::{Choice, Draft, DraftContext};
use crate::error::Error;
use crate::identity::Identity;

/// A question to a person. It must name who may answer before it can be drafted:
///
/// ```
/// use countersign_agent::{Ask, Identity, Timestamp, Version};
/// # fn draft(identity: &Identity, version: Version, now: Timestamp) -> Result<(), countersign_agent::Error> {
/// Ask::confirm("Ship to prod?").to(["human:alice"]).draft(identity, version, now)?;
/// # Ok(())
/// # }
/// ```
///
/// ```compile_fail,E0599
/// use countersign_agent::{Ask, Identity, Timestamp, Version};
/// # fn draft(identity: &Identity, version: Version, now: Timestamp) -> Result<(), countersign_agent::Error> {
/// Ask::confirm("Ship to prod?").draft(identity, version, now)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Ask<A> {
    common: Common,
    question: AskQuestion,
    may_decline: bool,
    default_on_expire: Option<Value>,
    address: A,
}

#[derive(Debug, Clone)]
enum AskQuestion {
    /// `approve` or `deny`.
    Confirm,
    ConfirmWith([Choice; 2]),
    Select(Vec<Choice>),
    Form(Map<String, Value>),
}

impl Ask<Unaddressed> {
    /// Answered with `approve` or `deny`.
    pub fn confirm(title: impl Into<String>) -> Self {
        Self::new(title, AskQuestion::Confirm)
    }

    /// Answered with the value of one of the two choices.
    pub fn confirm_with(title: impl Into<String>, yes: Choice, no: Choice) -> Self {
        Self::new(title, AskQuestion::ConfirmWith([yes, no]))
    }

    /// Answered with the value of one of the choices.
    pub fn select(title: impl Into<String>, choices: impl IntoIterator<Item = Choice>) -> Self {
        Self::new(title, AskQuestion::Select(choices.into_iter().collect()))
    }

    /// Answered with an object that matches the schema: a flat JSON Schema of strings, numbers, booleans and enums.
    pub fn form(title: impl Into<String>, schema: Map<String, Value>) -> Self {
        Self::new(title, AskQuestion::Form(schema))
    }

    /// Answered with a text in the person's own words: a form whose only field is `answer`. See
    /// [`Answer::text`](crate::Answer::text).
    pub fn text(title: impl Into<String>) -> Self {
        Self::form(title, text_schema())
    }

    fn new(title: impl Into<String>, question: AskQuestion) -> Self {
        Self {
            common: Common::titled(title),
            question,
            may_decline: true,
            default_on_expire: None,
            address: Unaddressed(()),
        }
    }

    /// Who may answer: exact ids such as `human:alice`, no wildcards.
    pub fn to<T: Into<String>>(self, resolvers: impl IntoIterator<Item = T>) -> Ask<Addressed> {
        self.addressed(Addressed::to(resolvers))
    }

    /// Only the asking agent itself may answer; no person can.
    pub fn to_myself(self) -> Ask<Addressed> {
        self.addressed(Addressed::to_myself())
    }

    fn addressed(self, address: Addressed) -> Ask<Addressed> {
        let Self {
            common,
            question,
            may_decline,
            default_on_expire,
            address: Unaddressed(()),
        } = self;
        Ask {
            common,
            question,
            may_decline,
            default_on_expire,
            address,
        }
    }
}

impl<A> Ask<A> {
    common_setters!();
    outcome_setters!();

    /// The answer the hub gives when the ask expires. It needs an expiry and must be one of the offered answers.
    pub fn default_on_expire(mut self, value: impl Into<Value>) -> Self {
        self.default_on_expire = Some(value.into());
        self
    }

    /// Removes the option to decline.
    pub fn no_decline(mut self) -> Self {
        self.may_decline = false;
        self
    }
}

impl Ask<Addressed> {
    /// Checks the ask as the hub will, and fixes the bytes to send. `version` is one that the hub speaks: see
    /// [`Client::version`](crate::Client::version).
    pub fn draft(&self, identity: &Identity, version: Version, now: Timestamp) -> Result<Draft, Error> {
        if self.default_on_expire.is_some() && self.common.expires_at.is_none() {
            let message = "has no effect without an expiry: set `expires_at` too, or leave both out";
            return Err(Error::invalid("request.default_on_expire", message));
        }
        let context = DraftContext { identity, version, now };
        context.draft(Kind::Ask, &self.common, Some(("request", self.request(identity))))
    }

    fn request(&self, identity: &Identity) -> Map<String, Value> {
        let mut request = Map::new();
        let mut put = |key: &str, value: Option<Value>| value.and_then(|value| request.insert(key.to_owned(), value));
        let (mode, options, schema) = match &self.question {
            AskQuestion::Confirm => (Mode::Confirm, None, None),
            AskQuestion::ConfirmWith(options) => (Mode::Confirm, Some(json!(options)), None),
            AskQuestion::Select(options) => (Mode::Select, Some(json!(options)), None),
            AskQuestion::Form(schema) => (Mode::Input, None, Some(json!(schema))),
        };
        put("mode", Some(mode.as_str().into()));
        put("options", options);
        put("schema", schema);
        put(
            "permissions",
            (!self.may_decline).then(|| json!({"allow_ignore": false})),
        );
        put("default_on_expire", self.default_on_expire.clone());
        put("allowed_resolvers", Some(self.address.allowed_resolvers(identity)));
        put("callback", self.common.callback.as_ref().map(super::Callback::to_value));
        request
    }
}
