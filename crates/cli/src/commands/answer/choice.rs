//! Finds the option that the input means.

use std::collections::BTreeSet;

use anyhow::{Result, bail};
use countersign_core::question::yes_and_no;
use countersign_protocol::a2h::Choice;
use countersign_protocol::api::inbox::Choices;

/// Like `select`; in addition `yes` and `no` mean the approving and the denying option, the same on every surface.
pub fn confirm(choices: &Choices, typed: &str) -> Result<String> {
    let spoken = match (typed, roles(choices)) {
        ("yes", (yes, _)) => yes,
        ("no", (_, no)) => no,
        _ => numbered(choices, typed),
    };
    pick(choices, typed, spoken)
}

/// The options that `yes` and `no` stand for.
pub fn roles(choices: &Choices) -> (Option<usize>, Option<usize>) {
    let values: Vec<&str> = choices.options.iter().map(|option| option.value.as_str()).collect();
    yes_and_no(&values)
}

/// An option's value, its label, or its number counted from one.
pub fn select(choices: &Choices, typed: &str) -> Result<String> {
    pick(choices, typed, numbered(choices, typed))
}

fn numbered(choices: &Choices, typed: &str) -> Option<usize> {
    let number = typed.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    number.filter(|index| *index < choices.options.len())
}

/// Several options, each as in `select`, in separate arguments because values may hold commas.
pub fn many(choices: &Choices, typed: &[String]) -> Result<Vec<String>> {
    typed.iter().map(|typed| select(choices, typed)).collect()
}

/// An exact value always wins. Labels and numbers must point to exactly one option: the agent chooses the labels and
/// must not be able to change the meaning of a person's input.
fn pick(choices: &Choices, typed: &str, short: Option<usize>) -> Result<String> {
    let options = &choices.options;
    if let Some(option) = options.iter().find(|option| option.value == typed) {
        return Ok(option.value.clone());
    }
    let labelled = options
        .iter()
        .enumerate()
        .filter(|(_, option)| option.label == typed)
        .map(|(index, _)| index);
    let meant: BTreeSet<usize> = labelled.chain(short).collect();
    match (meant.first(), meant.len()) {
        (Some(index), 1) => Ok(options[*index].value.clone()),
        (None, _) => bail!(
            "\"{typed}\" is not one of the options: {}{} (invalid_field)",
            list(options),
            edit(choices)
        ),
        (Some(_), _) => bail!(
            "\"{typed}\" may mean more than one option: use {} (invalid_field)",
            list(options)
        ),
    }
}

/// The values, each with its label.
pub fn list(options: &[Choice]) -> String {
    let text = |option: &Choice| match &option.label {
        label if *label == option.value => option.value.clone(),
        label => format!("{} ({label})", option.value),
    };
    options.iter().map(text).collect::<Vec<_>>().join(", ")
}

/// Free text needs an explicit flag, or a mistyped option would become an answer.
fn edit(choices: &Choices) -> &'static str {
    if choices.allow_edit && !choices.many {
        "; --text sends other text"
    } else {
        ""
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choices(options: &[(&str, &str)]) -> Choices {
        let option = |(value, label): &(&str, &str)| Choice {
            value: (*value).to_owned(),
            label: (*label).to_owned(),
            description: None,
        };
        Choices {
            options: options.iter().map(option).collect(),
            allow_edit: false,
            many: false,
        }
    }

    #[test]
    fn yes_approves_in_any_order_of_options() {
        let turned = choices(&[("deny", "Deny"), ("approve", "Approve")]);
        assert_eq!(confirm(&turned, "yes").unwrap(), "approve");
        assert_eq!(confirm(&turned, "no").unwrap(), "deny");
        let own_words = choices(&[("hold", "No"), ("ship", "Yes")]);
        assert_eq!(confirm(&own_words, "2").unwrap(), "ship");
        assert_eq!(confirm(&own_words, "Yes").unwrap(), "ship", "by its label");
        assert!(confirm(&own_words, "yes").is_err(), "ambiguous options are not guessed");
        let approve = choices(&[("approve", "Approve"), ("deny", "Deny")]);
        assert_eq!(confirm(&approve, "yes").unwrap(), "approve");
        assert_eq!(confirm(&approve, "no").unwrap(), "deny");
        assert_eq!(confirm(&approve, "deny").unwrap(), "deny");
        assert_eq!(confirm(&approve, "1").unwrap(), "approve", "numbered as shown");
        assert!(confirm(&approve, "3").is_err());
    }

    #[test]
    fn yes_as_a_value_means_that_value() {
        let swapped = choices(&[("no", "No"), ("yes", "Yes")]);
        assert_eq!(confirm(&swapped, "yes").unwrap(), "yes");
        assert_eq!(confirm(&swapped, "no").unwrap(), "no");
    }

    #[test]
    fn labels_cannot_turn_a_yes_around() {
        let hostile = choices(&[("approve", "no"), ("deny", "yes")]);
        let error = confirm(&hostile, "yes").unwrap_err().to_string();
        assert!(error.contains("more than one"), "{error}");
    }

    #[test]
    fn a_select_takes_value_label_or_number() {
        let colours = choices(&[("r", "Red"), ("g", "Green"), ("b", "Blue")]);
        for typed in ["g", "Green", "2"] {
            assert_eq!(select(&colours, typed).unwrap(), "g");
        }
        for typed in ["0", "4", "green", "", "yes"] {
            assert!(select(&colours, typed).is_err(), "{typed}");
        }
    }

    #[test]
    fn each_of_many_values_is_matched_by_itself() {
        let colours = choices(&[("r", "Red"), ("g", "Green"), ("a,b", "Both")]);
        let picked = |typed: &[&str]| many(&colours, &typed.iter().map(|&word| word.to_owned()).collect::<Vec<_>>());
        assert_eq!(picked(&["Green", "1", "a,b"]).unwrap(), ["g", "r", "a,b"]);
        assert!(picked(&["r,g"]).is_err());
    }

    #[test]
    fn ambiguous_input_is_refused() {
        let versions = choices(&[("2", "Two"), ("1", "One")]);
        assert_eq!(select(&versions, "2").unwrap(), "2");
        let twins = choices(&[("a", "Same"), ("b", "Same")]);
        assert!(select(&twins, "Same").is_err());
        let numbers = choices(&[("a", "2"), ("b", "1")]);
        assert!(select(&numbers, "2").is_err());
    }

    #[test]
    fn the_error_lists_the_options() {
        let error = select(&choices(&[("a", "A"), ("b", "B")]), "c").unwrap_err();
        assert_eq!(
            error.to_string(),
            "\"c\" is not one of the options: a (A), b (B) (invalid_field)"
        );
    }
}
