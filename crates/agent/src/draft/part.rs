//! The parts of a message.

use countersign_protocol::a2h::{AuthScheme, CallbackAuth};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// An offered answer: `value` is for the agent, the rest for the person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Choice {
    /// Comes back as the answer.
    pub value: String,
    /// The text of the button or the list entry.
    pub label: String,
    /// A longer text beside the label.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

impl Choice {
    /// A choice without a description.
    pub fn new(value: impl Into<String>, label: impl Into<String>) -> Self {
        Self {
            value: value.into(),
            label: label.into(),
            description: None,
        }
    }

    /// Adds a description.
    pub fn described(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }
}

/// Context for the person to look at before deciding.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// Text to read.
    Text(String),
    /// An object to look through.
    Data(Map<String, Value>),
    /// A link; the hub does not fetch it.
    File {
        /// Where the file is.
        uri: String,
        /// The name to show instead of the address.
        name: Option<String>,
        /// The media type, such as `text/csv`.
        mime_type: Option<String>,
    },
}

impl Part {
    pub(super) fn to_value(&self) -> Value {
        match self {
            Self::Text(text) => json!({"kind": "text", "text": text}),
            Self::Data(data) => json!({"kind": "data", "data": data}),
            Self::File { uri, name, mime_type } => {
                let mut file = json!({"uri": uri});
                for (key, value) in [("name", name), ("mime_type", mime_type)] {
                    if let Some(value) = value {
                        file[key] = value.as_str().into();
                    }
                }
                json!({"kind": "file", "file": file})
            }
        }
    }
}

/// Where the hub pushes the outcome. The signature covers the exact text of `url`: verify with the same spelling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Callback {
    /// The address of the receiver.
    pub url: String,
    /// The name of a credential that the hub stores for this agent, never the credential itself.
    pub auth: Option<CallbackAuth>,
}

impl Callback {
    /// A callback that only the signature authenticates.
    pub fn push(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            auth: None,
        }
    }

    /// Adds the name of a credential that the hub stores for this agent.
    pub fn authenticated(mut self, scheme: AuthScheme, reference: impl Into<String>) -> Self {
        self.auth = Some(CallbackAuth {
            scheme,
            reference: reference.into(),
        });
        self
    }

    pub(super) fn to_value(&self) -> Value {
        let mut callback = json!({"mode": "push", "url": self.url});
        if let Some(auth) = &self.auth {
            let name = match auth.scheme {
                AuthScheme::Hmac => "secret_ref",
                AuthScheme::Bearer | AuthScheme::Apikey => "token_ref",
            };
            callback["auth"] = json!({"scheme": auth.scheme, name: auth.reference});
        }
        callback
    }
}
