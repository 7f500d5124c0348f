//! Words that people read: names of agents, excerpts, actions and endings.

pub mod agent_name;
pub mod asker;
pub mod excerpt;
pub mod kind;
pub mod language;
pub mod outcome;
pub mod vocabulary;
