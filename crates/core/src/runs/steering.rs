//! Steering texts: what people tell a run while it works.

/// The message for the next agent, with the steering texts appended.
pub fn apply(message: &str, texts: &[String]) -> String {
    let said = texts
        .iter()
        .map(|text| format!("<user_steering>\n{text}\n</user_steering>"));
    let message = Some(message.to_owned()).filter(|message| !message.is_empty());
    message.into_iter().chain(said).collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_is_appended_in_its_own_block() {
        let texts = ["shorter".to_owned(), "in\nFrench".to_owned()];
        let first = "<user_steering>\nshorter\n</user_steering>";
        let both = format!("{first}\n\n<user_steering>\nin\nFrench\n</user_steering>");
        assert_eq!(apply("Write.", &texts), format!("Write.\n\n{both}"));
        assert_eq!(apply("", &texts[..1]), first);
        assert_eq!(apply("Write.", &[]), "Write.");
    }
}
