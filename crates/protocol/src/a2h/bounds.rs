//! How much of what a message may have, the same at every hub of ours. What a hub sets for itself is in its capability
//! document instead.

/// Names that stand in lists and columns: tags, labels, run ids, projects, resolvers.
pub const MAX_NAME_CHARS: usize = 255;
pub const MAX_KEY_CHARS: usize = 255;
pub const MAX_TAGS: usize = 64;
pub const MAX_LABELS: usize = 64;
pub const MAX_RESOLVERS: usize = 200;
pub const MAX_OPTIONS: usize = 100;
/// Of the value, and of the label.
pub const MAX_OPTION_CHARS: usize = 1000;
pub const MAX_CHECKLIST: usize = 200;
/// Of the instructions, and of the verification.
pub const MAX_TASK_BYTES: usize = 65_536;
