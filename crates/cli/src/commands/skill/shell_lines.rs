//! The shell blocks of a page, line by line and word by word.

/// The lines of the blocks marked `sh` or `console`, with continued lines joined and prompts removed.
pub fn lines(page: &str) -> Vec<String> {
    let blocks = page.split("```").skip(1).step_by(2);
    let shell = blocks.filter_map(|block| block.strip_prefix("sh\n").or_else(|| block.strip_prefix("console\n")));
    let joined: Vec<String> = shell.map(|block| block.replace("\\\n", " ")).collect();
    let lines = joined.iter().flat_map(|block| block.lines());
    lines.map(|line| line.trim_start_matches("$ ").to_owned()).collect()
}

/// Splits as a shell would, for the syntax used in our pages: quotes, redirections, pipes, comments. Nothing is
/// expanded.
pub fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    for c in line.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None, '<' | '>' | '#' | '|') => break,
            (None, ' ') => words.extend((!word.is_empty()).then(|| std::mem::take(&mut word))),
            (_, c) => word.push(c),
        }
    }
    words.extend((!word.is_empty()).then_some(word));
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_split_as_a_shell_would() {
        assert_eq!(
            words("countersign ask \"Ship it?\" --select a='One two' < x"),
            ["countersign", "ask", "Ship it?", "--select", "a=One two"]
        );
        let page = "```sh\ncountersign a \\\n  b\nother\n```\n```json\n{}\n```\n```console\n$ countersign c\n```\n";
        assert_eq!(lines(page), ["countersign a    b", "other", "countersign c"]);
    }
}
