//! The rules for texts and names in a strategy file.

use crate::runs::fault::{FaultList, FaultPath};
use crate::runs::object::{Object, TextRule};

/// Not bounded: the size limit of the file is enough.
pub(super) const ANY: TextRule = TextRule {
    may_be_empty: true,
    max_bytes: usize::MAX,
};
pub(super) const NOT_EMPTY: TextRule = TextRule {
    may_be_empty: false,
    max_bytes: usize::MAX,
};
const MAX_NAME_CHARS: usize = 200;

/// A required name field.
pub(super) fn name(object: &Object<'_>, key: &'static str) -> String {
    let name = object.text(key, NOT_EMPTY);
    check_name(&name, FaultPath::Key(object.place(), key), object.faults());
    name
}

pub(super) fn check_name(name: &str, place: FaultPath<'_>, faults: &FaultList) {
    if name.chars().count() > MAX_NAME_CHARS {
        faults.add(place, format!("must be at most {MAX_NAME_CHARS} characters"));
    } else if name.chars().any(char::is_control) {
        faults.add(place, "must not contain line breaks or other control characters");
    }
}
