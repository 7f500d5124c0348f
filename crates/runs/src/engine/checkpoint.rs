//! The checkpoint of a run: stored at every commit, so that the run can resume from it.

use countersign_core::runs::{Machine, Policy, with_steering};
use serde::{Deserialize, Serialize};

/// Bounds for steering texts that wait for the next agent.
const MAX_TEXTS: usize = 100;
const MAX_TEXT_BYTES: usize = 1024 * 1024;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    pub machine: Machine,
    #[serde(default, skip_serializing_if = "Steering::is_empty")]
    pub steering: Steering,
    #[serde(default)]
    pub policy: Policy,
    /// The message of the current agent call, if steering texts were added to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steered: Option<String>,
}

impl Checkpoint {
    pub fn start(input: &str, steering: Steering, policy: Policy) -> Self {
        Self {
            machine: Machine::start(input),
            steering,
            policy,
            steered: None,
        }
    }

    /// The message for the agent call, with queued steering texts. They stay with this call; a resumed call gets no new
    /// ones.
    pub fn message(&mut self, message: String, is_resumed: bool) -> String {
        if !is_resumed && !self.steering.is_empty() {
            let texts = std::mem::take(&mut self.steering.0);
            self.steered = Some(with_steering(&message, &texts));
        }
        self.steered.clone().unwrap_or(message)
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Steering(Vec<String>);

impl Steering {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns false if the queue is full.
    pub fn add(&mut self, text: &str) -> bool {
        let bytes: usize = self.0.iter().map(String::len).sum();
        let fits = self.0.len() < MAX_TEXTS && bytes + text.len() <= MAX_TEXT_BYTES;
        if fits {
            self.0.push(text.to_owned());
        }
        fits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steering_goes_to_one_call_and_survives_a_restart() {
        let mut checkpoint = Checkpoint::start("", Steering::default(), Policy::default());
        assert!(checkpoint.steering.add("shorter"));
        let steered = checkpoint.message("write".to_owned(), false);
        assert!(steered.starts_with("write\n\n") && steered.contains("shorter"));
        let stored = serde_json::to_string(&checkpoint).unwrap();
        let mut restored: Checkpoint = serde_json::from_str(&stored).unwrap();
        assert_eq!(restored, checkpoint);
        assert!(restored.steering.add("longer"));
        assert_eq!(restored.message("write".to_owned(), true), steered);
    }

    #[test]
    fn steering_has_bounds() {
        let mut steering = Steering::default();
        assert!(!steering.add(&"x".repeat(MAX_TEXT_BYTES + 1)));
        assert!((0..MAX_TEXTS).all(|_| steering.add("x")) && !steering.add("x"));
    }
}
