//! What there is to decide, or what became of it.

use super::super::answer::Editor;
use super::super::state::{Ending, Open, State};
use super::super::track::{Mark, outcome, track};
use super::{Paint, Sheet, editor};
use crate::screen::escape;

pub fn sheet(state: &State, paint: Paint, width: u16) -> Option<Sheet> {
    let open = state.open.as_ref()?;
    let mut sheet = Sheet::new(width, paint);
    match open.ending {
        Ending::None if open.seen.is_notice() => sheet.say("Nothing to decide: e archives it.", paint.quiet()),
        Ending::None => undecided(&mut sheet, state, open, paint),
        Ending::Past | Ending::Mine | Ending::Theirs { .. } | Ending::Unclear => over(&mut sheet, state, open, paint),
    }
    Some(sheet)
}

fn undecided(sheet: &mut Sheet, state: &State, open: &Open, paint: Paint) {
    if !open.seen.item.can_answer {
        let resolvers = open.seen.item.resolvers.join(", ");
        sheet.say(
            &escape(&format!("Not yours to answer: it is for {resolvers}.")),
            paint.warning(),
        );
        return;
    }
    let is_guarded = !open.guard_left(state.now.elapsed).is_zero();
    let style = if is_guarded || open.sending {
        paint.quiet()
    } else {
        paint.plain()
    };
    editor::lines(sheet, open, paint, style, open.takes_answers());
    if open.editor == Editor::Nothing {
        sheet.say(no_editor(open), paint.warning());
    }
    comment(sheet, open, paint);
    if let Some(refusal) = &open.refusal {
        sheet.say(&escape(refusal), paint.bad());
    }
    if open.sending {
        sheet.say("Sending… nothing is decided before the hub says so.", paint.warning());
    }
}

fn no_editor(open: &Open) -> &'static str {
    match (open.seen.may_respond(), open.seen.may_decline()) {
        (true, _) => "This version cannot answer this kind of question: use the web inbox.",
        (false, true) => "The asker takes no answer here: r declines.",
        (false, false) => "The asker takes neither an answer nor a refusal here.",
    }
}

fn comment(sheet: &mut Sheet, open: &Open, paint: Paint) {
    if !open.comment.is_blank() {
        sheet.typing("Comment: ", &open.comment, paint.quiet(), false);
    }
}

fn over(sheet: &mut Sheet, state: &State, open: &Open, paint: Paint) {
    let outcome = outcome(&open.seen, state.now.at, &state.zone);
    match (&outcome, &open.taken) {
        (Some(outcome), _) => first_words(sheet, open, outcome, paint),
        (None, Some(status)) => sheet.say(&format!("The hub has taken it: {}.", escape(status)), paint.good()),
        (None, None) => sheet.say("It is over; reading what came out…", paint.warning()),
    }
    for (mark, words) in track(&open.seen, state.now.at, &state.zone) {
        let (sign, style) = match mark {
            Mark::Done => ("✓ ", paint.good()),
            Mark::Now => ("… ", paint.warning()),
            Mark::Failed => ("✗ ", paint.bad()),
            Mark::Note => ("  ", paint.quiet()),
        };
        sheet.hang(sign, &words, style);
    }
    left_over(sheet, open, paint);
}

fn first_words(sheet: &mut Sheet, open: &Open, outcome: &str, paint: Paint) {
    match open.ending {
        Ending::Mine => sheet.hang("✓ ", outcome, paint.good()),
        Ending::Theirs { sent: true } => {
            sheet.say("Somebody was first. Your answer was not taken.", paint.bad());
            sheet.hang("✓ ", outcome, paint.strong());
        }
        Ending::Theirs { sent: false } => {
            sheet.say("Decided meanwhile:", paint.warning());
            sheet.hang("✓ ", outcome, paint.strong());
        }
        Ending::Unclear => {
            sheet.say("Decided; whether by your answer, the name tells:", paint.warning());
            sheet.hang("✓ ", outcome, paint.strong());
        }
        Ending::Past | Ending::None => sheet.hang("✓ ", outcome, paint.strong()),
    }
}

/// What the person had entered when it ended without them stays where they can read and copy it.
fn left_over(sheet: &mut Sheet, open: &Open, paint: Paint) {
    if !open.is_touched() && open.comment.is_blank() && open.reason.is_none() {
        return;
    }
    sheet.blank();
    sheet.say("What you had entered, not sent to the agent:", paint.strong());
    if open.is_touched() {
        editor::entered(sheet, open, paint);
    }
    comment(sheet, open, paint);
    if let Some(reason) = &open.reason {
        sheet.typing("Reason: ", reason, paint.quiet(), false);
    }
}
