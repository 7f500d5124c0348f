//! Agents as people see them: their names, who is there, and figures of the last days.

mod figures;
pub(super) mod names;
mod overview;
mod rename;

pub use figures::{AgentFigures, FiguresOf};
pub use names::AgentNames;
pub use overview::{AgentOverview, AgentOverviewOf, ListAgentOverviews, Residence};
pub use rename::{RenameAgent, RenameOutcome};
