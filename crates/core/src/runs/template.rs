use super::text::{TooLong, check_bytes};

const INPUT: &str = "{{input}}";

/// Replaces every placeholder by the input. A placeholder inside the input is not expanded.
pub fn fill(template: &str, input: &str) -> Result<String, TooLong> {
    let marks = template.matches(INPUT).count();
    check_bytes((template.len() - marks * INPUT.len()).saturating_add(marks.saturating_mul(input.len())))?;
    Ok(template.replace(INPUT, input))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runs::MAX_TEXT_BYTES;

    #[test]
    fn every_placeholder_is_filled_and_nothing_else_is_special() {
        let filled = |template: &str, input: &str| fill(template, input).expect("it fits");
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
            fill(&marks, &"x".repeat(1024)).map(|text| text.len()),
            Ok(MAX_TEXT_BYTES)
        );
        assert_eq!(fill(&marks, &"x".repeat(1025)), Err(TooLong));
        assert_eq!(fill(&marks, &"x".repeat(MAX_TEXT_BYTES)), Err(TooLong));
    }
}
