//! The footer's key hints; the help lists all keys.

use countersign_core::vocabulary::Action;

use crate::answer::{Editor, TextEditor};
use crate::state::{BatchAction, BatchDialog, InboxState, ItemEnding, OpenItem, Overlay, Tab};

/// The length that fits one line of an 80 column screen.
const MAX_HINT_CHARS: usize = 78;
const BACK: &str = "Esc back";
const AHEAD: &str = "w queue";

pub fn hints(state: &InboxState) -> String {
    let fixed = match (&state.overlay, &state.open) {
        (Some(Overlay::Help { .. }), _) => "j k scroll  any other key closes",
        (Some(Overlay::Search(_)), _) => "Enter searches everything  Esc ends the search",
        (Some(Overlay::Comment(_)), _) => "Enter keeps the comment  Ctrl-J new line",
        (Some(Overlay::Ahead { .. }), _) => "Enter sends it  Ctrl-J new line  Esc back, keeps it",
        (Some(Overlay::Reject(reject)), _) if reject.typing => "Enter sends it  Esc back to the reasons",
        (Some(Overlay::Reject(_)), _) => "1-9 j k pick  Enter sends it  Esc back",
        (Some(Overlay::Snooze { .. }), _) => "1-9 j k pick  Enter snoozes  Esc back",
        (Some(Overlay::OpenSteps), _) => "y sends it  Esc back to the steps",
        (Some(Overlay::Batch(dialog)), _) => batch_hints(dialog),
        (None, Some(open)) => return item_hints(open),
        (None, None) if state.batch.is_some() => return progress(state),
        (None, None) if state.marked_count() > 0 && state.tab == Tab::Notices => {
            "e archive  x mark  X all  Esc clear  ? help"
        }
        (None, None) if state.marked_count() > 0 => "a approve  r deny  s snooze  x mark  X all  Esc clear  ? help",
        (None, None) if state.tab == Tab::Notices => {
            "? help  Enter open  x select  e archive  u take back  n waiting  q quit"
        }
        (None, None) if state.tab == Tab::Snoozed => "? help  Enter open  u take back  Tab next list  q quit",
        (None, None) if state.tab == Tab::Decided => "? help  Enter open  / search  Tab next list  q quit",
        (None, None) => "? help  Enter open  x select  s snooze  / search  n notices  Tab lists  q quit",
    };
    fixed.to_owned()
}

fn batch_hints(dialog: &BatchDialog) -> &'static str {
    match dialog.action {
        BatchAction::Approve => "Enter approves them  Esc back",
        BatchAction::Archive => "Enter archives them  Esc back",
        BatchAction::Snooze => "1-9 j k pick  Enter snoozes them  Esc back",
        BatchAction::Deny if dialog.reject.typing => "Enter denies them  Esc back to the reasons",
        BatchAction::Deny => "1-9 j k pick  Enter denies them  Esc back",
    }
}

/// The batch at work.
fn progress(state: &InboxState) -> String {
    let (current, all) = state.batch.as_ref().map(|run| run.progress()).unwrap_or_default();
    format!("sending {current} of {all}…")
}

fn item_hints(open: &OpenItem) -> String {
    let fixed = match (&open.editor, open.ending) {
        _ if open.entry.is_notice() => "? help  e archive  Enter next  Esc back  q quit",
        _ if open.sending => "sending",
        (_, ItemEnding::Past) if open.entry.item.is_cue() => "? help  j k scroll  w queue a reply  Esc back  q quit",
        (_, ItemEnding::Past) => "? help  j k scroll  Esc back  q quit",
        (_, ItemEnding::Mine) if open.is_on_hold() => "? help  Enter next one  z undo  Esc back  q quit",
        (_, ItemEnding::Mine | ItemEnding::Theirs { .. } | ItemEnding::Unclear) if open.entry.item.is_cue() => {
            "? help  Enter next one  w queue a reply  Esc back  q quit"
        }
        (_, ItemEnding::Mine | ItemEnding::Theirs { .. } | ItemEnding::Unclear) => {
            "? help  Enter next one  Esc back  q quit"
        }
        (editor, ItemEnding::None) if editor.free_text().is_some_and(TextEditor::is_typing) => {
            "Enter send  Ctrl-J new line  Esc stop typing"
        }
        (Editor::Form(form), ItemEnding::None) if form.is_editing() => {
            "Tab next field  Enter next or send  Space changes a pick  Esc stop typing"
        }
        (Editor::Text(_), ItemEnding::None) if open.is_typing() => "Enter send  Ctrl-J new line  Esc stop typing",
        (_, ItemEnding::None) => return deciding(open),
    };
    fixed.to_owned()
}

/// `a` and `r` are shown only where they do something, named by their effect.
fn deciding(open: &OpenItem) -> String {
    let first = match &open.editor {
        Editor::Choice(_) => "1-9 pick  Enter send",
        Editor::Many(_) => "1-9 Space tick  Enter send",
        Editor::Text(_) => "Enter type the answer",
        Editor::Form(_) => "Enter fill in",
        Editor::Task(_) => "Space tick",
        Editor::Nothing => "j k scroll",
    };
    let yes = open
        .editor
        .approve()
        .map(|verdict| format!("a {}", verdict.word(Action::Approve)));
    let no = open
        .rejection()
        .map(|verdict| format!("r {}", verdict.word(Action::Deny)));
    let can_decide = no.is_some() || open.editor != Editor::Nothing;
    let comment = can_decide.then_some("c comment");
    let before = ["? help", first]
        .into_iter()
        .chain(yes.as_deref())
        .chain(no.as_deref())
        .chain(comment);
    let mut line = before.chain(["s snooze"]).collect::<Vec<_>>().join("  ");
    let ahead = open.entry.item.is_cue().then_some(AHEAD);
    for more in ahead.into_iter().chain([BACK]) {
        if line.len() + 2 + more.len() <= MAX_HINT_CHARS {
            line = format!("{line}  {more}");
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::inbox_entry::tests::entry;
    use crate::state::Scene;

    fn line(extra: &Value) -> String {
        let mut scene = Scene::holding(vec![entry("a", extra)]);
        scene.open();
        hints(&scene.state)
    }

    fn confirm(values: [&str; 2], may_decline: bool) -> Value {
        let options = values.map(|value| json!({"value": value, "label": value}));
        let question = json!({"kind": "confirm", "options": options});
        json!({"question": question, "permissions": {"respond": true, "ignore": may_decline}})
    }

    #[test]
    fn the_hints_of_a_and_r_name_their_effect() {
        let yes_or_no = line(&confirm(["deny", "approve"], true));
        assert_eq!(
            yes_or_no,
            "? help  1-9 pick  Enter send  a approve  r deny  c comment  s snooze  Esc back"
        );
        let free_text = line(&confirm(["ship", "hold"], true));
        assert_eq!(
            free_text,
            "? help  1-9 pick  Enter send  r skip  c comment  s snooze  Esc back"
        );
        let task = line(&json!({"type": "task", "question": null, "action": {"instructions": "do"}}));
        assert_eq!(
            task,
            "? help  Space tick  a done  r can't do  c comment  s snooze  Esc back"
        );
    }

    #[test]
    fn keys_that_do_nothing_are_not_offered() {
        let strict = line(&confirm(["ship", "hold"], false));
        assert_eq!(strict, "? help  1-9 pick  Enter send  c comment  s snooze  Esc back");
        assert!(
            line(&confirm(["approve", "deny"], false)).contains("r deny"),
            "the asker offers that no"
        );
        let closed = line(&json!({"permissions": {"respond": false, "ignore": false}}));
        assert_eq!(closed, "? help  j k scroll  s snooze  Esc back");
        let decline_only = line(&json!({"permissions": {"respond": false, "ignore": true}}));
        assert_eq!(
            decline_only,
            "? help  j k scroll  r skip  c comment  s snooze  Esc back"
        );
        assert_eq!(
            line(&json!({"can_answer": false})),
            "? help  j k scroll  s snooze  Esc back"
        );
    }
}
