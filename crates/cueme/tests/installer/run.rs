//! One call of `cueme`, with its exit code and its output.

use std::process::{Command, Stdio};

#[derive(Debug)]
pub struct CommandOutput {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

pub fn run(mut command: Command) -> CommandOutput {
    let output = command.stdin(Stdio::null()).output().expect("cueme starts");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    CommandOutput {
        code: output.status.code(),
        stdout: text(output.stdout),
        stderr: text(output.stderr),
    }
}

impl CommandOutput {
    #[track_caller]
    pub fn ok(self) -> String {
        assert_eq!(self.code, Some(0), "{self:?}");
        self.stdout
    }

    /// A failure goes to stderr only.
    #[track_caller]
    pub fn fails(self, code: i32) -> String {
        assert_eq!(self.code, Some(code), "{self:?}");
        assert_eq!(self.stdout, "", "{self:?}");
        assert!(!self.stderr.trim().is_empty(), "{self:?}");
        self.stderr
    }
}
