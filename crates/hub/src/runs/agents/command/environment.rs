//! What a command inherits, and what it does not.

use std::ffi::OsString;

const OURS: &[u8] = b"COUNTERSIGN_";

/// The variables to leave out: our own, which hold tokens, and those with keys of models.
pub fn secrets<'a>(all: impl Iterator<Item = OsString>, keys: impl Iterator<Item = &'a str>) -> Vec<OsString> {
    let ours = all.filter(|name| name.as_encoded_bytes().starts_with(OURS));
    ours.chain(keys.map(OsString::from)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_variables_and_keys_stay_here() {
        let all = ["PATH", "COUNTERSIGN_TOKEN", "MY_COUNTERSIGN_X", "COUNTERSIGN_DATA"].map(OsString::from);
        let hidden = secrets(all.into_iter(), ["OPENAI_API_KEY"].into_iter());
        assert_eq!(hidden, ["COUNTERSIGN_TOKEN", "COUNTERSIGN_DATA", "OPENAI_API_KEY"]);
    }
}
