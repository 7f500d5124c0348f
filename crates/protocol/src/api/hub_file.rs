use serde::{Deserialize, Serialize};

use super::HubTime;

/// The file `hub.json` that a running hub leaves in its data directory for programs of the same user.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct HubFile {
    pub url: String,
    /// The owner's.
    pub token: String,
    /// Absent in files of older hubs, like the fields below.
    pub terminal_token: Option<String>,
    pub sign_in_url: Option<String>,
    pub pid: Option<u32>,
    pub started_at: Option<HubTime>,
}
