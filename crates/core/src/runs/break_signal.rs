//! Break signals: whether an observer's answer ends a cycle.

use countersign_protocol::runs::strategy::Match;

/// Whether the answer contains a signal in the place that `matching` names. Case is ignored.
pub fn breaks(answer: &str, signals: &[String], matching: Match) -> bool {
    let answer = answer.to_lowercase();
    let signals: Vec<String> = signals.iter().map(|signal| signal.to_lowercase()).collect();
    let mut lines = answer.lines().map(str::trim).filter(|line| !line.is_empty());
    match matching {
        Match::Substring => signals.iter().any(|signal| answer.contains(signal)),
        Match::FirstLine => lines.next().is_some_and(|line| starts_with_signal(line, &signals)),
        Match::AnyLine => lines.any(|line| starts_with_signal(line, &signals)),
        Match::Exact => signals.iter().any(|signal| answer.trim() == signal),
    }
}

/// True if the line is a signal, or starts with one as a whole word.
fn starts_with_signal(line: &str, signals: &[String]) -> bool {
    let follows = |rest: &str| rest.is_empty() || rest.starts_with(char::is_whitespace);
    signals
        .iter()
        .any(|signal| line.strip_prefix(signal.as_str()).is_some_and(follows))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(answer: &str, matching: Match) -> bool {
        breaks(answer, &["Done".to_owned(), "end cycle".to_owned()], matching)
    }

    #[test]
    fn a_substring_is_found_anywhere_in_any_case() {
        for answer in ["done", "not DONE yet", "abandoned", "please END Cycle"] {
            assert!(ends(answer, Match::Substring), "{answer}");
        }
        for answer in ["", "don e", "end\ncycle"] {
            assert!(!ends(answer, Match::Substring), "{answer}");
        }
    }

    #[test]
    fn a_line_is_a_signal_or_starts_with_one_as_a_word() {
        for answer in [
            "done",
            "\n \t\nDone\nbut",
            "  dOnE well",
            "done\twell",
            "END CYCLE\r\nthanks",
        ] {
            assert!(ends(answer, Match::FirstLine), "{answer}");
            assert!(ends(answer, Match::AnyLine), "{answer}");
        }
        for answer in ["", " \n", "done!", "undone", "not done", "donely"] {
            assert!(!ends(answer, Match::FirstLine), "{answer}");
            assert!(!ends(answer, Match::AnyLine), "{answer}");
        }
    }

    #[test]
    fn first_line_skips_blank_lines_and_any_line_matches_all() {
        let answer = "\nMore of it.\n\n  done now";
        assert!(!ends(answer, Match::FirstLine));
        assert!(ends(answer, Match::AnyLine));
    }

    #[test]
    fn exact_compares_the_trimmed_answer() {
        assert!(ends(" \nDONE\n", Match::Exact));
        for answer in ["done.", "done now", "done\ndone", ""] {
            assert!(!ends(answer, Match::Exact), "{answer}");
        }
    }
}
