//! The open steps of a task, for the question before it is sent as done.

use countersign_protocol::api::inbox::ChecklistStep;

/// `2 of 5 steps are open`; `None` if every step is done. A person may have overlooked them, so completing a task asks first.
pub fn open_steps(steps: &[ChecklistStep]) -> Option<String> {
    let open = steps.iter().filter(|step| !step.done).count();
    match (open, steps.len()) {
        (0, _) => None,
        (1, 1) => Some("1 step is open".to_owned()),
        (1, all) => Some(format!("1 of {all} steps is open")),
        (open, all) => Some(format!("{open} of {all} steps are open")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_steps_are_counted_among_all() {
        let text = |done: &[bool]| {
            let step = |&done: &bool| ChecklistStep {
                text: "a".to_owned(),
                done,
            };
            open_steps(&done.iter().map(step).collect::<Vec<_>>())
        };
        assert_eq!(text(&[]), None);
        assert_eq!(text(&[true, true]), None);
        assert_eq!(text(&[false]).as_deref(), Some("1 step is open"));
        assert_eq!(text(&[true, false]).as_deref(), Some("1 of 2 steps is open"));
        assert_eq!(text(&[false, true, false]).as_deref(), Some("2 of 3 steps are open"));
    }
}
