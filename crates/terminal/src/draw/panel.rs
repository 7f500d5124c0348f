//! The panel: the answer editor, or the outcome.

use countersign_client::screen::{actor_label, escape};
use countersign_core::vocabulary::Tone;

use super::{TextLayout, Theme, editor};
use crate::answer::Editor;
use crate::delivery_progress::{StepMark, delivery_steps, outcome};
use crate::state::{InboxState, ItemEnding, OpenItem};

pub fn layout(state: &InboxState, theme: Theme, width: u16) -> Option<TextLayout> {
    let open = state.open.as_ref()?;
    let mut layout = TextLayout::new(width, theme);
    match open.ending {
        ItemEnding::None if open.entry.is_notice() => {
            layout.add_text("Nothing to decide: e archives it.", theme.quiet())
        }
        ItemEnding::None => undecided(&mut layout, state, open, theme),
        ItemEnding::Past | ItemEnding::Mine | ItemEnding::Theirs { .. } | ItemEnding::Unclear => {
            over(&mut layout, state, open, theme)
        }
    }
    Some(layout)
}

fn undecided(layout: &mut TextLayout, state: &InboxState, open: &OpenItem, theme: Theme) {
    if let Some(held) = open.entry.item.held_text() {
        layout.add_text(&escape(&format!("{held} this.")), theme.warning());
        return;
    }
    if !open.entry.item.can_answer {
        let names = open.entry.item.resolvers.iter().map(|actor| actor_label(actor));
        let resolvers = names.collect::<Vec<_>>().join(", ");
        layout.add_text(
            &escape(&format!("Not yours to answer: it is for {resolvers}.")),
            theme.warning(),
        );
        return;
    }
    let is_guarded = !open.guard_left(state.now.elapsed).is_zero();
    let style = if is_guarded || open.sending {
        theme.quiet()
    } else {
        theme.plain()
    };
    editor::lines(layout, open, theme, style, open.takes_answers());
    if open.editor == Editor::Nothing {
        layout.add_text(no_editor(open), theme.warning());
    }
    comment(layout, open, theme);
    if let Some(refusal) = &open.refusal {
        layout.add_text(&escape(refusal), theme.bad());
    }
    if open.sending {
        layout.add_text("Sending… nothing is decided before the hub says so.", theme.warning());
    }
}

fn no_editor(open: &OpenItem) -> &'static str {
    match (open.entry.may_respond(), open.entry.may_decline()) {
        (true, _) => "This version cannot answer this kind of question: use the web inbox.",
        (false, true) => "The agent takes no answer here: r skips it.",
        (false, false) => "The agent takes no answer here.",
    }
}

fn comment(layout: &mut TextLayout, open: &OpenItem, theme: Theme) {
    if !open.comment.is_blank() {
        layout.typing("Comment: ", &open.comment, theme.quiet(), false);
    }
}

fn over(layout: &mut TextLayout, state: &InboxState, open: &OpenItem, theme: Theme) {
    let outcome = outcome(&open.entry, state.now.at, &state.zone);
    match (&outcome, &open.taken) {
        (Some(outcome), _) => draw_outcome(layout, open, outcome, theme),
        (None, Some(_)) if open.is_on_hold() => {
            layout.add_text("Your answer is sent in a moment. z takes it back.", theme.good());
        }
        (None, Some(status)) => layout.add_text(&format!("The hub accepted it: {}.", escape(status)), theme.good()),
        (None, None) => layout.add_text("It has ended; reading the outcome…", theme.warning()),
    }
    for (mark, text) in delivery_steps(&open.entry, state.now.at, &state.zone) {
        let (sign, style) = match mark {
            StepMark::Done => ("✓ ", theme.good()),
            StepMark::Now => ("… ", theme.warning()),
            StepMark::Failed => ("✗ ", theme.bad()),
            StepMark::Note => ("  ", theme.quiet()),
        };
        layout.add_hanging(sign, &text, style);
    }
    left_over(layout, open, theme);
}

/// The sign says the same as the colour, because not all people see colours.
fn draw_outcome(layout: &mut TextLayout, open: &OpenItem, outcome: &str, theme: Theme) {
    match open.ending {
        ItemEnding::Theirs { sent: true } => {
            layout.add_text("Already answered. Your answer was not applied.", theme.bad());
        }
        ItemEnding::Theirs { sent: false } | ItemEnding::Unclear => {
            layout.add_text("Already answered:", theme.warning());
        }
        ItemEnding::Mine | ItemEnding::Past | ItemEnding::None => {}
    }
    let (sign, style) = match open.entry.item.ending_tone() {
        Tone::Good => ("✓ ", theme.good()),
        Tone::Bad => ("✗ ", theme.bad()),
        Tone::Late => ("! ", theme.warning()),
        Tone::Plain => ("✓ ", theme.strong()),
        Tone::Quiet => ("– ", theme.quiet()),
    };
    layout.add_hanging(sign, outcome, style);
}

/// Unsent input stays visible after the item ended, so that it can be copied.
fn left_over(layout: &mut TextLayout, open: &OpenItem, theme: Theme) {
    if !open.is_touched() && open.comment.is_blank() && open.reason.is_none() {
        return;
    }
    layout.blank();
    layout.add_text("What you had entered, not sent to the agent:", theme.strong());
    if open.is_touched() {
        editor::entered(layout, open, theme);
    }
    comment(layout, open, theme);
    if let Some(reason) = &open.reason {
        layout.typing("Reason: ", reason, theme.quiet(), false);
    }
}
