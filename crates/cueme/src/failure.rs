//! A failed command: its exit code and its message.

/// Printed on standard error; standard output stays empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub code: u8,
    pub message: String,
}

impl Failure {
    /// A fault in the command line, its input or its settings. Nothing was stored.
    pub fn usage(message: &str) -> Self {
        Self {
            code: 2,
            message: with_error_prefix(message),
        }
    }

    pub fn failed(message: &str) -> Self {
        Self {
            code: 1,
            message: with_error_prefix(message),
        }
    }
}

/// Errors of the envelope parser already start with `error:`.
fn with_error_prefix(message: &str) -> String {
    if message.starts_with("error:") {
        message.to_owned()
    } else {
        format!("error: {message}")
    }
}
