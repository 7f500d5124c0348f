//! Which choice says yes and which says no.

use countersign_core::Question;
use countersign_protocol::a2h::{APPROVE, Choice, DENY};

/// The choice that approves, if this is a question of yes or no.
pub fn approval(question: &Question) -> Option<&Choice> {
    let options = of_confirm(question)?;
    by_value(options, APPROVE).or_else(|| options.first().filter(|_| is_pair_of_own_words(options)))
}

/// The choice that denies.
pub fn denial(question: &Question) -> Option<&Choice> {
    let options = of_confirm(question)?;
    by_value(options, DENY).or_else(|| options.get(1).filter(|_| is_pair_of_own_words(options)))
}

fn of_confirm(question: &Question) -> Option<&[Choice]> {
    match question {
        Question::Confirm { options, .. } => Some(options),
        Question::Select { .. } | Question::Text | Question::Form { .. } => None,
    }
}

fn by_value<'o>(options: &'o [Choice], value: &str) -> Option<&'o Choice> {
    options.iter().find(|option| option.value == value)
}

/// Of two choices in the asker's own words the first is the yes; the agent's side reads them so, too.
fn is_pair_of_own_words(options: &[Choice]) -> bool {
    options.len() == 2 && [APPROVE, DENY].iter().all(|word| by_value(options, word).is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn confirm(values: &[&str]) -> Question {
        let choice = |value: &&str| Choice { value: (*value).into(), label: (*value).into(), description: None };
        Question::Confirm { options: values.iter().map(choice).collect(), allow_edit: false }
    }

    fn roles(question: &Question) -> [Option<&str>; 2] {
        [approval(question), denial(question)].map(|choice| choice.map(|choice| choice.value.as_str()))
    }

    #[test]
    fn the_words_of_the_protocol_are_known_in_any_order() {
        assert_eq!(roles(&confirm(&["approve", "deny"])), [Some("approve"), Some("deny")]);
        assert_eq!(roles(&confirm(&["deny", "approve"])), [Some("approve"), Some("deny")]);
    }

    #[test]
    fn of_two_other_words_the_first_is_the_yes() {
        assert_eq!(roles(&confirm(&["ship", "hold"])), [Some("ship"), Some("hold")]);
    }

    #[test]
    fn nothing_is_guessed_where_it_is_not_clear() {
        assert_eq!(roles(&confirm(&["a", "b", "c"])), [None, None]);
        assert_eq!(roles(&confirm(&["deny", "later"])), [None, Some("deny")]);
        assert_eq!(roles(&Question::Text), [None, None]);
    }
}
