//! The code blocks of a page, and the commands in them.

/// A fenced block. The words after the language, as in `console terminal=2`, are not shown to people.
pub struct Block {
    pub language: String,
    pub terminal: String,
    pub text: String,
}

/// One thing a reader does or sees in a terminal.
#[derive(Debug, PartialEq)]
pub enum Step {
    Run {
        command: String,
        shown: String,
    },
    /// More output of the command that still runs.
    Look {
        shown: String,
    },
}

pub fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let Some(info) = line.strip_prefix("```") else { continue };
        let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        let terminal = info.split_whitespace().find_map(|word| word.strip_prefix("terminal="));
        blocks.push(Block {
            language: info.split_whitespace().next().unwrap_or_default().to_owned(),
            terminal: terminal.unwrap_or("main").to_owned(),
            text: body.join("\n"),
        });
    }
    blocks
}

impl Block {
    /// `sh` is a script without output. In `console` a line with `$ ` is a command, and the lines below are its output.
    pub fn steps(&self) -> Vec<Step> {
        match self.language.as_str() {
            "sh" => vec![Step::Run {
                command: self.text.clone(),
                shown: String::new(),
            }],
            "console" => self.console_steps(),
            _ => vec![],
        }
    }

    fn console_steps(&self) -> Vec<Step> {
        let text = format!("\n{}", self.text);
        let mut parts = text.split("\n$ ");
        let before = parts.next().unwrap_or_default().trim_matches('\n');
        let mut steps = Vec::new();
        if !before.is_empty() {
            steps.push(Step::Look {
                shown: before.to_owned(),
            });
        }
        steps.extend(parts.map(|part| {
            let (command, shown) = part.split_once('\n').unwrap_or((part, ""));
            Step::Run {
                command: command.to_owned(),
                shown: shown.to_owned(),
            }
        }));
        steps
    }
}

#[test]
fn a_page_is_read_as_its_reader_does() {
    let page = "Text\n```console terminal=2\n$ one\nout\n\nmore\n$ two\n```\n```yaml\na: 1\n```\n```console\n^C\n```\n";
    let blocks = blocks(page);
    let run = |command: &str, shown: &str| Step::Run {
        command: command.to_owned(),
        shown: shown.to_owned(),
    };
    assert_eq!(blocks[0].terminal, "2");
    assert_eq!(blocks[0].steps(), [run("one", "out\n\nmore"), run("two", "")]);
    assert_eq!(blocks[1].steps(), []);
    assert_eq!(blocks[2].steps(), [Step::Look { shown: "^C".to_owned() }]);
}
