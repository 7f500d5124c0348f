//! Fixed limits of a message, the same at every hub. Limits that a hub configures are in its capability document.

/// For tags, labels, run ids, projects and resolvers, which appear in lists and columns.
pub const MAX_NAME_CHARS: usize = 255;
pub const MAX_KEY_CHARS: usize = 255;
pub const MAX_TAGS: usize = 64;
pub const MAX_LABELS: usize = 64;
pub const MAX_RESOLVERS: usize = 200;
pub const MAX_OPTIONS: usize = 100;
/// For the value and for the label.
pub const MAX_OPTION_CHARS: usize = 1000;
pub const MAX_CHECKLIST: usize = 200;
/// For the instructions and for the verification.
pub const MAX_TASK_BYTES: usize = 65_536;
