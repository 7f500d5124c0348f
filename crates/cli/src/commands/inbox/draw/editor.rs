//! The editors, row by row.

use ratatui::style::Style;

use super::super::answer::{Editor, Entry, FormEditor, Pick, Steps, Ticks, Words};
use super::super::content::option_words;
use super::super::state::Open;
use super::{Paint, Sheet};
use crate::item::{Choice, Question};
use crate::screen::escape;

pub fn lines(sheet: &mut Sheet, open: &Open, paint: Paint, style: Style, is_live: bool) {
    let options: &[Choice] = match &open.seen.item.question {
        Some(Question::Confirm(choices) | Question::Select(choices)) => &choices.options,
        Some(Question::Text | Question::Form { .. } | Question::Unknown) | None => &[],
    };
    let row = Rows { paint, style, is_live };
    match &open.editor {
        Editor::Choice(pick) => row.choice(sheet, pick, options),
        Editor::Many(ticks) => row.many(sheet, ticks, options),
        Editor::Text(words) => row.text(sheet, words),
        Editor::Form(form) => row.form(sheet, form),
        Editor::Task(steps) => row.task(sheet, steps),
        Editor::Nothing => {}
    }
}

/// What was entered and nothing else, for when it is too late to send it.
pub fn entered(sheet: &mut Sheet, open: &Open, paint: Paint) {
    let options: Vec<String> = match &open.seen.item.question {
        Some(Question::Confirm(choices) | Question::Select(choices)) => choices
            .options
            .iter()
            .map(|option| option_words(&option.label, &option.value))
            .collect(),
        Some(Question::Text | Question::Form { .. } | Question::Unknown) | None => Vec::new(),
    };
    let style = paint.quiet();
    match &open.editor {
        Editor::Choice(pick) => {
            let picked = pick.cursor().and_then(|index| options.get(index));
            picked.into_iter().for_each(|option| sheet.hang("> ", option, style));
        }
        Editor::Many(ticks) => {
            let ticked = options.iter().enumerate().filter(|(index, _)| ticks.is_ticked(*index));
            ticked.for_each(|(_, option)| sheet.hang("> ", option, style));
        }
        Editor::Text(words) => sheet.typing("> ", words.words(), style, false),
        Editor::Form(form) => form.entries().iter().for_each(|entry| entry_line(sheet, entry, style)),
        Editor::Task(steps) => {
            let done = steps.steps().iter().filter(|step| step.done);
            done.for_each(|step| sheet.hang("[x] ", &escape(&step.text), style));
        }
        Editor::Nothing => {}
    }
    let other = open
        .editor
        .own_words()
        .map(Words::words)
        .filter(|other| !other.is_blank());
    other
        .into_iter()
        .for_each(|other| sheet.typing("> ", other, style, false));
}

fn entry_line(sheet: &mut Sheet, entry: &Entry, style: Style) {
    let lead = format!("{}: ", escape(&entry.field.label));
    let labels = entry.labels();
    let chosen = labels.iter().enumerate().filter(|(index, _)| entry.is_chosen(*index));
    let chosen: Vec<String> = chosen.map(|(_, label)| escape(label)).collect();
    if !chosen.is_empty() {
        sheet.hang(&lead, &chosen.join(", "), style);
    } else if !entry.typing().is_blank() {
        sheet.typing(&lead, entry.typing(), style, false);
    }
}

struct Rows {
    paint: Paint,
    style: Style,
    is_live: bool,
}

impl Rows {
    fn row(&self, sheet: &mut Sheet, lead: &str, text: &str, is_here: bool) {
        let first = sheet.height();
        let cursor = if is_here { "▌" } else { " " };
        let style = if is_here && self.is_live {
            self.paint.chosen()
        } else {
            self.style
        };
        sheet.hang(&format!("{cursor}{lead}"), text, style);
        if is_here {
            sheet.focus_from(first);
        }
    }

    fn about(&self, sheet: &mut Sheet, text: Option<&str>) {
        if let Some(text) = text {
            sheet.hang("      ", &escape(text), self.paint.quiet());
        }
    }

    /// A row and what is said about it, which is read together.
    fn option(&self, sheet: &mut Sheet, lead: &str, text: &str, about: Option<&str>, is_here: bool) {
        let first = sheet.height();
        self.row(sheet, lead, text, is_here);
        self.about(sheet, about);
        if is_here {
            sheet.focus_from(first);
        }
    }

    fn choice(&self, sheet: &mut Sheet, pick: &Pick, options: &[Choice]) {
        for (index, option) in options.iter().enumerate() {
            let key = pick.key_of(index).map(|key| format!("   [{key}]")).unwrap_or_default();
            let text = option_words(&option.label, &option.value) + &key;
            let is_here = pick.cursor() == Some(index);
            self.option(sheet, &number(index), &text, option.description.as_deref(), is_here);
        }
        self.other(
            sheet,
            &number(options.len()),
            pick.other(),
            pick.cursor() == Some(options.len()),
        );
    }

    /// The row for other words than those offered.
    fn other(&self, sheet: &mut Sheet, lead: &str, other: Option<&Words>, is_here: bool) {
        let Some(other) = other else { return };
        self.row(sheet, lead, "in other words:   [o]", is_here);
        if is_here || !other.words().text().is_empty() {
            sheet.typing("      ", other.words(), self.style, self.is_live && other.is_typing());
        }
    }

    fn many(&self, sheet: &mut Sheet, ticks: &Ticks, options: &[Choice]) {
        for (index, option) in options.iter().enumerate() {
            let lead = format!("{}{}", number(index), tick(ticks.is_ticked(index)));
            let text = option_words(&option.label, &option.value);
            let is_here = ticks.cursor() == Some(index);
            self.option(sheet, &lead, &text, option.description.as_deref(), is_here);
        }
        self.other(
            sheet,
            &number(options.len()),
            ticks.other(),
            ticks.cursor() == Some(options.len()),
        );
    }

    fn text(&self, sheet: &mut Sheet, words: &Words) {
        let is_empty = words.words().text().is_empty() && !words.is_typing();
        if is_empty {
            sheet.say("Enter begins to type.", self.style);
        } else {
            sheet.typing("> ", words.words(), self.style, self.is_live && words.is_typing());
        }
    }

    fn form(&self, sheet: &mut Sheet, form: &FormEditor) {
        for (index, entry) in form.entries().iter().enumerate() {
            let is_here = form.cursor() == index;
            self.entry(sheet, entry, is_here, form.is_editing());
        }
        for fault in form.faults() {
            sheet.say(&escape(fault), self.paint.bad());
        }
        if self.is_live {
            self.row(sheet, " ", "Send", form.cursor() == form.entries().len());
        }
        self.other(sheet, " ", form.other(), form.cursor() == form.entries().len() + 1);
    }

    fn entry(&self, sheet: &mut Sheet, entry: &Entry, is_here: bool, is_editing: bool) {
        let field = &entry.field;
        let required = if field.required { " *" } else { "" };
        let hidden = if field.sensitive { ", hidden" } else { "" };
        let head = format!(
            "{}{required}  ({}{hidden})",
            escape(&field.label),
            escape(&entry.hint())
        );
        let first = sheet.height();
        let labels = entry.labels();
        self.option(sheet, " ", &head, field.description.as_deref(), is_here);
        let choices = sheet.height();
        for (index, label) in labels.iter().enumerate() {
            let mark = match (entry.takes_many(), entry.is_chosen(index)) {
                (true, is_chosen) => tick(is_chosen),
                (false, true) => "(•) ",
                (false, false) => "( ) ",
            };
            let is_at = entry.takes_many() && is_here && is_editing && entry.picked() == Some(index);
            sheet.hang(
                &format!("    {} {mark}", if is_at { "▌" } else { " " }),
                &escape(label),
                self.style,
            );
        }
        let is_active = self.is_live && is_here && is_editing && !entry.is_picked();
        if labels.is_empty() {
            sheet.typing("    > ", entry.typing(), self.style, is_active);
        }
        for fault in &entry.faults {
            sheet.hang("      ", &escape(fault), self.paint.bad());
        }
        match entry.picked() {
            Some(index) if is_here => sheet.focus_at(first, choices + index),
            None if is_here => sheet.focus_from(first),
            Some(_) | None => {}
        }
    }

    fn task(&self, sheet: &mut Sheet, steps: &Steps) {
        let count = steps.steps().len();
        for (index, step) in steps.steps().iter().enumerate() {
            let lead = format!("{}{}", number(index), tick(step.done));
            self.row(sheet, &lead, &escape(&step.text), steps.cursor() == Some(index));
        }
        if self.is_live {
            self.row(sheet, " ", "Complete   [a]", steps.cursor() == Some(count));
            self.row(
                sheet,
                " ",
                "Dismiss   [r gives a reason]",
                steps.cursor() == Some(count + 1),
            );
        }
    }
}

/// Only digits can be pressed.
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
