//! Handing a message to the hub.

mod accepted;
mod callback;
mod idempotency;
mod order;
mod question;
mod shape;
mod version;

use serde_json::Value;

/// One defect an envelope can have: its name, how it gets there, and the field the error must name.
type Defect = (&'static str, fn(&mut Value), &'static str);

fn remove(object: &mut Value, key: &str) {
    object.as_object_mut().expect("an object").remove(key);
}
