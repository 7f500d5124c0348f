//! Why `cueme` ends without an answer.

/// Told on standard error; standard output stays empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub code: u8,
    pub message: String,
}

impl Failure {
    /// The command line, its input or its settings: nothing was stored.
    pub fn usage(message: &str) -> Self {
        Self {
            code: 2,
            message: marked(message),
        }
    }

    pub fn failed(message: &str) -> Self {
        Self {
            code: 1,
            message: marked(message),
        }
    }
}

/// The refusals of an envelope bring the word along.
fn marked(message: &str) -> String {
    if message.starts_with("error:") {
        message.to_owned()
    } else {
        format!("error: {message}")
    }
}
