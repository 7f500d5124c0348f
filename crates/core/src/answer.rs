//! Does an answer fit the question?

use serde_json::Value;

use crate::question::Question;
use crate::rejection::Rejection;
use crate::schema;

const MAX_TYPED_CHARS: usize = 20_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fits {
    /// The answer is text the asker did not offer.
    pub edited: bool,
}

pub fn check(question: &Question, value: &Value) -> Result<Fits, Rejection> {
    match question {
        Question::Confirm { options, allow_edit } | Question::Select { options, allow_edit } => {
            let Value::String(text) = value else {
                return Err(Rejection::field("value", "answer with a string, the value of one of the options"));
            };
            if options.iter().any(|option| option.value == *text) {
                return Ok(Fits { edited: false });
            }
            if !allow_edit {
                let offered: Vec<&str> = options.iter().map(|option| option.value.as_str()).collect();
                return Err(Rejection::field("value", format!("choose one of: {}", offered.join(", "))));
            }
            check_typed(text)
        }
        Question::Form { schema } => schema::check_answer(schema, value).map(|()| Fits { edited: false }),
    }
}

fn check_typed(text: &str) -> Result<Fits, Rejection> {
    if text.is_empty() || text.chars().count() > MAX_TYPED_CHARS {
        return Err(Rejection::field("value", format!("type between 1 and {MAX_TYPED_CHARS} characters")));
    }
    Ok(Fits { edited: true })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::question::approve_or_deny;

    #[test]
    fn only_offered_values_unless_editing_is_allowed() {
        let strict = Question::Confirm { options: approve_or_deny(), allow_edit: false };
        assert_eq!(check(&strict, &json!("approve")), Ok(Fits { edited: false }));
        assert!(check(&strict, &json!("Approve")).is_err());
        assert!(check(&strict, &json!(true)).is_err());
        let open = Question::Confirm { options: approve_or_deny(), allow_edit: true };
        assert_eq!(check(&open, &json!("only on Monday")), Ok(Fits { edited: true }));
        assert_eq!(check(&open, &json!("deny")), Ok(Fits { edited: false }));
        assert!(check(&open, &json!("")).is_err());
    }
}
