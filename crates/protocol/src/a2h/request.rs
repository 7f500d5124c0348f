//! The request of an ask, the action of a task, and their callback.

use serde::Serialize;
use serde_json::Value;

use super::envelope::EnvelopeError;
use super::family::Version;
use super::fields::{FieldPath, FieldReader};
use super::wire_enum::wire_enum;

const FREE_ALLOW_ACCEPT_SINCE: u32 = 6;

/// The default values of a confirm.
pub const APPROVE: &str = "approve";
pub const DENY: &str = "deny";

wire_enum!(Mode { Select = "select", Input = "input", Confirm = "confirm" });

#[derive(Debug, Clone, PartialEq)]
pub struct AskRequest {
    pub mode: Mode,
    /// For a select or a confirm; ignored for an input.
    pub options: Option<Vec<Choice>>,
    /// For an input; ignored otherwise.
    pub schema: Option<Value>,
    pub permissions: Permissions,
    /// A string or an object. Null counts as absent.
    pub default_on_expire: Option<Value>,
    pub routing: Routing,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, serde::Deserialize)]
pub struct Choice {
    pub value: String,
    pub label: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Permissions {
    pub allow_edit: Option<bool>,
    pub allow_respond: Option<bool>,
    pub allow_ignore: Option<bool>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskAction {
    pub instructions: String,
    pub checklist: Vec<CheckItem>,
    pub verification: Option<String>,
    pub routing: Routing,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, serde::Deserialize)]
pub struct CheckItem {
    pub text: String,
    pub done: bool,
}

/// The people and agents who may resolve an ask or a task, and the callback for its response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Routing {
    /// The field of the envelope that has it: `request` or `action`.
    pub section: &'static str,
    pub allowed_resolvers: Option<Vec<String>>,
    pub callback: Option<CallbackRequest>,
}

wire_enum!(CallbackMode { Push = "push", Pull = "pull" });

wire_enum!(AuthScheme { Hmac = "hmac", Bearer = "bearer", Apikey = "apikey" });

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallbackRequest {
    pub mode: CallbackMode,
    /// Always present for a push, in its original spelling, because the signature covers it.
    pub url: Option<String>,
    pub auth: Option<CallbackAuth>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallbackAuth {
    pub scheme: AuthScheme,
    /// The name of a secret stored at the hub, never the secret itself.
    pub reference: String,
}

impl AskRequest {
    pub(super) fn read(value: Value, version: Version) -> Result<Self, EnvelopeError> {
        let mut fields = FieldReader::of(value, FieldPath::Key(&FieldPath::Root, "request"))?;
        let mode = fields.required_word("mode")?;
        let options = fields.list("options", choice)?;
        let schema = fields.object_value("schema")?;
        match (mode, options.as_deref()) {
            (Mode::Select, None | Some([])) => {
                return Err(fields.invalid("options", "must hold at least one option to select"));
            }
            (Mode::Confirm, Some(options)) if options.len() != 2 => {
                return Err(fields.invalid("options", "must hold exactly two options to confirm, or be left out"));
            }
            (Mode::Input, _) if schema.is_none() => {
                let message = "is missing: describe the fields of the answer, or use another mode";
                return Err(fields.invalid("schema", message));
            }
            (Mode::Select | Mode::Confirm | Mode::Input, _) => {}
        }
        Ok(Self {
            mode,
            options: options.filter(|_| mode != Mode::Input),
            schema: schema.filter(|_| mode == Mode::Input),
            permissions: fields
                .object("permissions", |fields| permissions(fields, version))?
                .unwrap_or_default(),
            default_on_expire: match fields.any("default_on_expire") {
                None | Some(Value::Null) => None,
                Some(value @ (Value::String(_) | Value::Object(_))) => Some(value),
                Some(Value::Bool(_) | Value::Number(_) | Value::Array(_)) => {
                    return Err(fields.invalid("default_on_expire", "must be an option's value, an object, or null"));
                }
            },
            routing: Routing::read("request", &mut fields)?,
        })
    }
}

impl TaskAction {
    pub(super) fn read(value: Value) -> Result<Self, EnvelopeError> {
        let mut fields = FieldReader::of(value, FieldPath::Key(&FieldPath::Root, "action"))?;
        Ok(Self {
            instructions: fields.required_text("instructions")?,
            checklist: fields.list("checklist", check_item)?.unwrap_or_default(),
            verification: fields.text("verification")?,
            routing: Routing::read("action", &mut fields)?,
        })
    }
}

impl Routing {
    fn read(section: &'static str, fields: &mut FieldReader<'_>) -> Result<Self, EnvelopeError> {
        let resolver = |item, place: FieldPath<'_>| {
            let actor = place.text(item)?;
            if is_actor(&actor) {
                return Ok(actor);
            }
            Err(place.invalid("must name an actor as human:NAME, agent:NAME or system:NAME"))
        };
        Ok(Self {
            section,
            allowed_resolvers: fields.list("allowed_resolvers", resolver)?,
            callback: fields.object("callback", callback)?,
        })
    }
}

fn choice(value: Value, place: FieldPath<'_>) -> Result<Choice, EnvelopeError> {
    let mut fields = FieldReader::of(value, place)?;
    Ok(Choice {
        value: fields.required_text("value")?,
        label: fields.required_text("label")?,
        description: fields.text("description")?,
    })
}

/// `allow_accept` has no meaning. Earlier versions require a boolean; from `FREE_ALLOW_ACCEPT_SINCE` on it is ignored.
fn permissions(mut fields: FieldReader<'_>, version: Version) -> Result<Permissions, EnvelopeError> {
    if version.minor < FREE_ALLOW_ACCEPT_SINCE {
        fields.flag("allow_accept")?;
    }
    Ok(Permissions {
        allow_edit: fields.flag("allow_edit")?,
        allow_respond: fields.flag("allow_respond")?,
        allow_ignore: fields.flag("allow_ignore")?,
    })
}

fn check_item(value: Value, place: FieldPath<'_>) -> Result<CheckItem, EnvelopeError> {
    let mut fields = FieldReader::of(value, place)?;
    Ok(CheckItem {
        text: fields.required_text("text")?,
        done: fields.flag("done")?.unwrap_or(false),
    })
}

/// `human:`, `agent:` or `system:`, followed by a name on one line.
fn is_actor(text: &str) -> bool {
    let Some((kind, name)) = text.split_once(':') else {
        return false;
    };
    let one_line = !name.contains(['\n', '\r', '\u{2028}', '\u{2029}']);
    matches!(kind, "human" | "agent" | "system") && !name.is_empty() && one_line
}

fn callback(mut fields: FieldReader<'_>) -> Result<CallbackRequest, EnvelopeError> {
    let mode = fields.required_word("mode")?;
    let url = fields.uri("url")?;
    if mode == CallbackMode::Push && url.is_none() {
        return Err(fields.invalid("url", "is missing: a push needs an address to go to"));
    }
    Ok(CallbackRequest {
        mode,
        url,
        auth: fields.object("auth", callback_auth)?,
    })
}

fn callback_auth(mut fields: FieldReader<'_>) -> Result<CallbackAuth, EnvelopeError> {
    let scheme = fields.required_word("scheme")?;
    let (named, foreign) = match scheme {
        AuthScheme::Hmac => ("secret_ref", "token_ref"),
        AuthScheme::Bearer | AuthScheme::Apikey => ("token_ref", "secret_ref"),
    };
    if fields.has(foreign) {
        return Err(fields.invalid(foreign, format!("is not used with the scheme {scheme}: send `{named}`")));
    }
    Ok(CallbackAuth {
        scheme,
        reference: fields.required_text(named)?,
    })
}
