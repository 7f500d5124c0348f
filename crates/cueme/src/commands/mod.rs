//! One module per subcommand.

pub mod cue;
pub mod fix;
pub mod installer;
pub mod join;
pub mod migrate;
pub mod pause;
pub mod resume;
