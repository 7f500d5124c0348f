//! People, their tokens and their sign-in links.

use serde::{Deserialize, Serialize};

use crate::api::HubTime;

/// GET /v1/admin/people.
#[derive(Debug, Serialize, Deserialize)]
pub struct PeopleList<P = ListedPerson> {
    pub people: Vec<P>,
}

/// A person with the number of their credentials.
#[derive(Debug, Serialize, Deserialize)]
pub struct ListedPerson {
    pub name: String,
    pub actor: String,
    pub role: String,
    pub created_at: HubTime,
    pub tokens: u64,
    #[serde(default)]
    pub sessions: u64,
    #[serde(default)]
    pub passkeys: u64,
    #[serde(default)]
    pub has_password: bool,
}

/// A new person with their first token, or another token of a person; shown once.
#[derive(Serialize, Deserialize)]
pub struct NewAccess {
    pub name: String,
    pub actor: String,
    /// Only of a new person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// The id and the label are only those of another token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    pub token: String,
}

/// GET /v1/admin/people/tokens.
#[derive(Debug, Serialize, Deserialize)]
pub struct TokensList {
    pub tokens: Vec<ListedToken>,
}

/// A token, without its text.
#[derive(Debug, Serialize, Deserialize)]
pub struct ListedToken {
    pub id: String,
    /// `person` or `terminal`.
    pub kind: String,
    pub label: String,
    pub created_at: HubTime,
}

/// A token that was revoked.
#[derive(Debug, Serialize, Deserialize)]
pub struct EndedToken {
    pub name: String,
    pub actor: String,
    pub id: String,
}

/// A link that signs a person in once.
#[derive(Serialize, Deserialize)]
pub struct SignInLink {
    pub name: String,
    pub actor: String,
    pub url: String,
    pub expires_at: HubTime,
}

/// A person who was removed.
#[derive(Debug, Serialize, Deserialize)]
pub struct PersonRef {
    pub name: String,
    pub actor: String,
}
