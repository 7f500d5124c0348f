//! Draws the editors row by row.

use countersign_client::screen::escape;
use countersign_core::vocabulary::Action;
use countersign_protocol::a2h::Choice;
use countersign_protocol::api::inbox::ItemQuestion;
use ratatui::style::Style;

use super::{TextLayout, Theme};
use crate::answer::{ChoiceEditor, Editor, FormEditor, FormEntry, ManyEditor, TaskEditor, TextEditor};
use crate::content::option_label;
use crate::state::OpenItem;

pub fn lines(layout: &mut TextLayout, open: &OpenItem, theme: Theme, style: Style, is_live: bool) {
    let options: &[Choice] = match &open.entry.item.question {
        Some(ItemQuestion::Confirm(choices) | ItemQuestion::Select(choices)) => &choices.options,
        Some(ItemQuestion::Text | ItemQuestion::Form { .. } | ItemQuestion::Unknown) | None => &[],
    };
    let row = Rows { theme, style, is_live };
    match &open.editor {
        Editor::Choice(pick) => row.choice(layout, pick, options),
        Editor::Many(ticks) => row.many(layout, ticks, options),
        Editor::Text(editor) => row.text(layout, editor),
        Editor::Form(form) => row.form(layout, form),
        Editor::Task(steps) => row.task(layout, steps),
        Editor::Nothing => {}
    }
}

/// The entered answer alone, for when it is too late to send it.
pub fn entered(layout: &mut TextLayout, open: &OpenItem, theme: Theme) {
    let options: Vec<String> = match &open.entry.item.question {
        Some(ItemQuestion::Confirm(choices) | ItemQuestion::Select(choices)) => choices
            .options
            .iter()
            .map(|option| option_label(&option.label, &option.value))
            .collect(),
        Some(ItemQuestion::Text | ItemQuestion::Form { .. } | ItemQuestion::Unknown) | None => Vec::new(),
    };
    let style = theme.quiet();
    match &open.editor {
        Editor::Choice(pick) => {
            let picked = pick.cursor().and_then(|index| options.get(index));
            picked
                .into_iter()
                .for_each(|option| layout.add_hanging("> ", option, style));
        }
        Editor::Many(ticks) => {
            let ticked = options.iter().enumerate().filter(|(index, _)| ticks.is_ticked(*index));
            ticked.for_each(|(_, option)| layout.add_hanging("> ", option, style));
        }
        Editor::Text(editor) => layout.typing("> ", editor.input(), style, false),
        Editor::Form(form) => form.entries().iter().for_each(|entry| entry_line(layout, entry, style)),
        Editor::Task(steps) => {
            let done = steps.steps().iter().filter(|step| step.done);
            done.for_each(|step| layout.add_hanging("[x] ", &escape(&step.text), style));
        }
        Editor::Nothing => {}
    }
    let other = open
        .editor
        .free_text()
        .map(TextEditor::input)
        .filter(|other| !other.is_blank());
    other
        .into_iter()
        .for_each(|other| layout.typing("> ", other, style, false));
}

fn entry_line(layout: &mut TextLayout, entry: &FormEntry, style: Style) {
    let lead = format!("{}: ", escape(&entry.field.label));
    let labels = entry.labels();
    let chosen = labels.iter().enumerate().filter(|(index, _)| entry.is_chosen(*index));
    let chosen: Vec<String> = chosen.map(|(_, label)| escape(label)).collect();
    if !chosen.is_empty() {
        layout.add_hanging(&lead, &chosen.join(", "), style);
    } else if !entry.typing().is_blank() {
        layout.typing(&lead, entry.typing(), style, false);
    }
}

struct Rows {
    theme: Theme,
    style: Style,
    is_live: bool,
}

impl Rows {
    fn row(&self, layout: &mut TextLayout, lead: &str, text: &str, is_here: bool) {
        let first = layout.height();
        let cursor = if is_here { "▌" } else { " " };
        let style = if is_here && self.is_live {
            self.theme.chosen()
        } else {
            self.style
        };
        layout.add_hanging(&format!("{cursor}{lead}"), text, style);
        if is_here {
            layout.focus_from(first);
        }
    }

    fn about(&self, layout: &mut TextLayout, text: Option<&str>) {
        if let Some(text) = text {
            layout.add_hanging("      ", &escape(text), self.theme.quiet());
        }
    }

    /// A row with its description, kept visible together.
    fn option(&self, layout: &mut TextLayout, lead: &str, text: &str, about: Option<&str>, is_here: bool) {
        let first = layout.height();
        self.row(layout, lead, text, is_here);
        self.about(layout, about);
        if is_here {
            layout.focus_from(first);
        }
    }

    fn choice(&self, layout: &mut TextLayout, pick: &ChoiceEditor, options: &[Choice]) {
        for (index, option) in options.iter().enumerate() {
            let key = pick.key_of(index).map(|key| format!("   [{key}]")).unwrap_or_default();
            let text = option_label(&option.label, &option.value) + &key;
            let is_here = pick.cursor() == Some(index);
            self.option(layout, &number(index), &text, option.description.as_deref(), is_here);
        }
        self.other(
            layout,
            &number(options.len()),
            pick.other(),
            pick.cursor() == Some(options.len()),
        );
    }

    /// The free text row.
    fn other(&self, layout: &mut TextLayout, lead: &str, other: Option<&TextEditor>, is_here: bool) {
        let Some(other) = other else { return };
        self.row(layout, lead, "in other words:   [o]", is_here);
        if is_here || !other.input().text().is_empty() {
            layout.typing("      ", other.input(), self.style, self.is_live && other.is_typing());
        }
    }

    fn many(&self, layout: &mut TextLayout, ticks: &ManyEditor, options: &[Choice]) {
        for (index, option) in options.iter().enumerate() {
            let lead = format!("{}{}", number(index), tick(ticks.is_ticked(index)));
            let text = option_label(&option.label, &option.value);
            let is_here = ticks.cursor() == Some(index);
            self.option(layout, &lead, &text, option.description.as_deref(), is_here);
        }
        self.other(
            layout,
            &number(options.len()),
            ticks.other(),
            ticks.cursor() == Some(options.len()),
        );
    }

    fn text(&self, layout: &mut TextLayout, editor: &TextEditor) {
        let is_empty = editor.input().text().is_empty() && !editor.is_typing();
        if is_empty {
            layout.add_text("Enter begins to type.", self.style);
        } else {
            layout.typing("> ", editor.input(), self.style, self.is_live && editor.is_typing());
        }
    }

    fn form(&self, layout: &mut TextLayout, form: &FormEditor) {
        for (index, entry) in form.entries().iter().enumerate() {
            let is_here = form.cursor() == index;
            self.entry(layout, entry, is_here, form.is_editing());
        }
        for fault in form.faults() {
            layout.add_text(&escape(fault), self.theme.bad());
        }
        if self.is_live {
            self.row(layout, " ", "Send", form.cursor() == form.entries().len());
        }
        self.other(layout, " ", form.other(), form.cursor() == form.entries().len() + 1);
    }

    fn entry(&self, layout: &mut TextLayout, entry: &FormEntry, is_here: bool, is_editing: bool) {
        let field = &entry.field;
        let required = if field.required { " *" } else { "" };
        let hidden = if field.sensitive { ", hidden" } else { "" };
        let head = format!(
            "{}{required}  ({}{hidden})",
            escape(&field.label),
            escape(&entry.hint())
        );
        let first = layout.height();
        let labels = entry.labels();
        self.option(layout, " ", &head, field.description.as_deref(), is_here);
        let choices = layout.height();
        for (index, label) in labels.iter().enumerate() {
            let mark = match (entry.takes_many(), entry.is_chosen(index)) {
                (true, is_chosen) => tick(is_chosen),
                (false, true) => "(•) ",
                (false, false) => "( ) ",
            };
            let is_at = entry.takes_many() && is_here && is_editing && entry.picked() == Some(index);
            layout.add_hanging(
                &format!("    {} {mark}", if is_at { "▌" } else { " " }),
                &escape(label),
                self.style,
            );
        }
        let is_active = self.is_live && is_here && is_editing && !entry.is_picked();
        if labels.is_empty() {
            layout.typing("    > ", entry.typing(), self.style, is_active);
        }
        for fault in &entry.faults {
            layout.add_hanging("      ", &escape(fault), self.theme.bad());
        }
        match entry.picked() {
            Some(index) if is_here => layout.focus_at(first, choices + index),
            None if is_here => layout.focus_from(first),
            Some(_) | None => {}
        }
    }

    fn task(&self, layout: &mut TextLayout, steps: &TaskEditor) {
        let count = steps.steps().len();
        for (index, step) in steps.steps().iter().enumerate() {
            let lead = format!("{}{}", number(index), tick(step.done));
            self.row(layout, &lead, &escape(&step.text), steps.cursor() == Some(index));
        }
        if self.is_live {
            let done = format!("{}   [a]", Action::Done.label());
            self.row(layout, " ", &done, steps.cursor() == Some(count));
            let cannot_do = format!("{}   [r gives a reason]", Action::CannotDo.label());
            self.row(layout, " ", &cannot_do, steps.cursor() == Some(count + 1));
        }
    }
}

/// Only the first nine rows have a digit key.
fn number(index: usize) -> String {
    if index < 9 {
        format!(" {}. ", index + 1)
    } else {
        "    ".to_owned()
    }
}

fn tick(is_ticked: bool) -> &'static str {
    if is_ticked { "[x] " } else { "[ ] " }
}
