use countersign_store::Store;
use countersign_store::clock::ManualClock;
use countersign_store::ops::account::setting::{PutSetting, Setting};
use countersign_store::ops::message::audit::Trail;

use super::audit::assert_chained;
use crate::scene::*;

async fn put(store: &Store, name: &str, value: &str) {
    let name = name.to_owned();
    let value = value.to_owned();
    let actor = OWNER.to_owned();
    store.run(PutSetting { name, value, actor }).await.unwrap();
}

async fn setting(store: &Store, name: &str) -> Option<String> {
    store.run(Setting { name: name.to_owned() }).await.unwrap()
}

pub async fn a_setting_is_kept_and_replaced(store: &Store, _clock: &ManualClock) {
    assert_eq!(setting(store, "presets").await, None);
    put(store, "presets", "first").await;
    put(store, "other", "its own").await;
    put(store, "presets", "second").await;
    assert_eq!(setting(store, "presets").await.as_deref(), Some("second"));
    assert_eq!(setting(store, "other").await.as_deref(), Some("its own"));
}

pub async fn setting_change_is_audited_on_the_hub(store: &Store, _clock: &ManualClock) {
    put(store, "presets", "first").await;
    put(store, "presets", "second").await;
    let trail = store
        .run(Trail {
            subject: "hub".to_owned(),
        })
        .await
        .unwrap();
    let found: Vec<_> = trail
        .iter()
        .map(|row| (row.entry.actor.as_str(), row.entry.event.as_str()))
        .collect();
    assert_eq!(found, [(OWNER, "setting.presets_changed"); 2]);
    assert_chained(&trail);
}
