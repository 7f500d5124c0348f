//! Texts passed between agents: their bound, templates, and what people tell a run while it works.

/// Bound for a text passed between agents: a flow that feeds its output back could otherwise double it forever.
pub const MAX_TEXT_BYTES: usize = 4 * 1024 * 1024;

const INPUT: &str = "{{input}}";

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the text is longer than {MAX_TEXT_BYTES} bytes; pass a shorter text to the next agent")]
pub struct TooLong;

pub(super) fn check_bytes(bytes: usize) -> Result<(), TooLong> {
    if bytes > MAX_TEXT_BYTES { Err(TooLong) } else { Ok(()) }
}

/// Replaces every placeholder by the input. A placeholder inside the input is not expanded.
pub fn fill_template(template: &str, input: &str) -> Result<String, TooLong> {
    let marks = template.matches(INPUT).count();
    check_bytes((template.len() - marks * INPUT.len()).saturating_add(marks.saturating_mul(input.len())))?;
    Ok(template.replace(INPUT, input))
}

/// The message for the next agent, with the steering texts appended.
pub fn with_steering(message: &str, texts: &[String]) -> String {
    let blocks = texts
        .iter()
        .map(|text| format!("<user_steering>\n{text}\n</user_steering>"));
    let message = Some(message.to_owned()).filter(|message| !message.is_empty());
    message.into_iter().chain(blocks).collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_placeholder_is_filled_and_nothing_else_is_special() {
        let filled = |template: &str, input: &str| fill_template(template, input).expect("it fits");
        assert_eq!(filled("{{input}} and {{input}}", "a"), "a and a");
        assert_eq!(
            filled("{{ input }} {{Input}} {input} $1", "a"),
            "{{ input }} {{Input}} {input} $1"
        );
        assert_eq!(filled("[{{input}}]", "{{input}}$0"), "[{{input}}$0]");
        assert_eq!(filled("", "a"), "");
    }

    #[test]
    fn a_result_that_would_be_too_long_is_refused() {
        let marks = INPUT.repeat(MAX_TEXT_BYTES / 1024);
        assert_eq!(
            fill_template(&marks, &"x".repeat(1024)).map(|text| text.len()),
            Ok(MAX_TEXT_BYTES)
        );
        assert_eq!(fill_template(&marks, &"x".repeat(1025)), Err(TooLong));
        assert_eq!(fill_template(&marks, &"x".repeat(MAX_TEXT_BYTES)), Err(TooLong));
    }

    #[test]
    fn each_text_is_appended_in_its_own_block() {
        let texts = ["shorter".to_owned(), "in\nFrench".to_owned()];
        let first = "<user_steering>\nshorter\n</user_steering>";
        let both = format!("{first}\n\n<user_steering>\nin\nFrench\n</user_steering>");
        assert_eq!(with_steering("Write.", &texts), format!("Write.\n\n{both}"));
        assert_eq!(with_steering("", &texts[..1]), first);
        assert_eq!(with_steering("Write.", &[]), "Write.");
    }
}
