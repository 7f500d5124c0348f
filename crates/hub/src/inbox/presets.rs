//! Preset reasons for rejecting. The hub has one list for all people; the built-in one applies until an owner saves
//! another.

use countersign_store::StoreError;
use countersign_store::ops::account::setting::Setting;

use crate::Hub;

/// The setting that stores the reasons as a JSON list of texts.
pub const SETTING: &str = "reject_presets";
pub const MAX_PRESETS: usize = 20;
pub const MAX_PRESET_CHARS: usize = 200;

const BUILT_IN: [&str; 5] = [
    "Too risky",
    "I need to know more first",
    "Do it another way",
    "No longer needed",
    "Not mine to decide",
];

pub fn built_in() -> Vec<String> {
    BUILT_IN.map(str::to_owned).into()
}

pub async fn presets(hub: &Hub) -> Result<Vec<String>, StoreError> {
    let stored = hub
        .store
        .run(Setting {
            name: SETTING.to_owned(),
        })
        .await?;
    Ok(stored
        .and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_else(built_in))
}
