use serde::{Deserialize, Serialize};

/// The status of a run. A run that waits for a person is running.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// Prepared, not started.
    Pending,
    Running,
    Completed,
    Error,
    Cancelled,
}

impl RunStatus {
    pub const ALL: [Self; 5] = [
        Self::Pending,
        Self::Running,
        Self::Completed,
        Self::Error,
        Self::Cancelled,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Error => "error",
            Self::Cancelled => "cancelled",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == word)
    }

    /// True if the run has ended; it may still be continued.
    pub const fn is_over(self) -> bool {
        match self {
            Self::Pending | Self::Running => false,
            Self::Completed | Self::Error | Self::Cancelled => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_parses_from_its_text() {
        for status in RunStatus::ALL {
            assert_eq!(RunStatus::parse(status.as_str()), Some(status));
            assert_eq!(serde_json::to_value(status).unwrap(), status.as_str());
        }
        assert_eq!(RunStatus::parse("waiting"), None);
        assert_eq!(RunStatus::parse("Running"), None);
    }
}
