//! The form that decides an open message.

pub mod control;
pub mod discarded_input;
pub mod form_errors;
pub mod local_time;
pub mod parse;
pub mod roles;

use countersign_core::asker::RunOrigin;
use countersign_core::form;
use countersign_core::limits::{MAX_FILE_BYTES, MAX_FILES, MAX_FILES_BYTES};
use countersign_core::message::Task;
use countersign_core::question::Ask;
use countersign_core::{Content, Message, Payload, Question};
use countersign_protocol::a2h::Choice;
use countersign_protocol::runs::Decision;

use self::control::{Control, control_of};
use self::form_errors::FormErrors;
use self::parse::{OPEN_STEPS, normalize_newlines, takes_own_words};
pub use self::roles::choice_label;
use self::roles::{approval, denial};
use crate::language::t;
use crate::layout::form::FormFields;
use crate::layout::formatting::size;
use crate::layout::upload::FILES;

/// A longer form gets the wide column of the page.
const MAX_NARROW_FIELDS: usize = 3;
/// Number keys select the first nine choices.
const MAX_SHORTCUT_KEYS: usize = 9;

pub struct AnswerForm {
    pub input: AnswerInput,
    /// The person may also answer in own words.
    pub own_words: Option<OwnWords>,
    /// Files may be attached to the answer.
    pub files: Option<AttachInput>,
    /// A sentence about what the asker does not accept.
    pub withdrawn: Option<&'static str>,
    /// False for a run, which uses the answer only.
    pub takes_comment: bool,
    pub reject: Option<RejectForm>,
    pub comment: String,
    pub is_sensitive: bool,
    pub errors: Vec<String>,
    pub value_errors: Vec<String>,
    pub comment_errors: Vec<String>,
    /// Why a task is not completed yet: some of its steps are open.
    pub open_steps: Option<String>,
    /// The answer as the agent will get it, if the person asked for it.
    pub preview: Option<String>,
}

pub enum AnswerInput {
    /// The asker accepts no answer.
    Nothing,
    Press(Vec<ChoiceOffer>),
    One(Vec<ChoiceOffer>),
    Many(Vec<ChoiceOffer>),
    Text {
        value: String,
        may_be_empty: bool,
    },
    Form(Vec<Control>),
    Work(Vec<Tick>),
}

pub struct ChoiceOffer {
    pub value: String,
    pub label: String,
    pub description: Option<String>,
    pub key: Option<usize>,
    pub role: &'static str,
    pub chosen: bool,
}

pub struct OwnWords {
    /// The text of a refused attempt; empty if it is sensitive.
    pub value: String,
    /// The input has several lines.
    pub is_long: bool,
    pub errors: Vec<String>,
}

pub struct AttachInput {
    pub max_files: usize,
    pub max_file_bytes: u64,
    pub max_total_bytes: u64,
    pub max_file_size: String,
    pub max_total_size: String,
    /// Names of files from a refused attempt: a browser does not keep attachments.
    pub lost: Vec<String>,
    pub errors: Vec<String>,
}

pub struct Tick {
    pub index: usize,
    pub text: String,
    pub done: bool,
}

pub struct RejectForm {
    /// `denied` answers with the choice that says no; `declined` gives no answer.
    pub verdict: &'static str,
    /// The label of the choice that says no.
    pub denial: Option<String>,
    pub also_decline: bool,
    pub presets: Vec<Preset>,
    /// No preset is picked.
    pub is_other: bool,
    pub reason: String,
    pub is_open: bool,
}

pub struct Preset {
    pub text: String,
    pub chosen: bool,
}

/// A refused attempt: the fields that were sent, and the errors in them.
pub struct RefusedAttempt<'a> {
    pub sent: Option<&'a FormFields>,
    pub faults: &'a FormErrors,
}

impl AnswerForm {
    /// Returns `None` for a notify.
    pub fn of(message: &Message, presets: Vec<String>, attempt: &RefusedAttempt<'_>) -> Option<Self> {
        let content = &message.content;
        let faults = attempt.faults;
        let is_run = RunOrigin::of(&message.source).is_some();
        let (input, own_words, withdrawn, reject) = match &content.payload {
            Payload::Ask(ask) => (
                input(ask, content, is_run, attempt),
                own_words(ask, content, attempt),
                withdrawn(ask, is_run),
                reject(ask, content, presets, attempt),
            ),
            Payload::Task(task) => (AnswerInput::Work(ticks(task, attempt.sent)), None, None, None),
            Payload::Notify => return None,
        };
        Some(Self {
            input,
            own_words,
            files: attach(content, attempt),
            withdrawn,
            takes_comment: !is_run,
            reject,
            comment: attempt.typed("comment", content),
            is_sensitive: content.sensitive,
            errors: [faults.of(""), attempt.withheld("reason", content)].concat(),
            value_errors: faults.of("value"),
            comment_errors: [faults.of("comment"), attempt.withheld("comment", content)].concat(),
            open_steps: faults.of(OPEN_STEPS).into_iter().next(),
            preview: None,
        })
    }

    /// True if the form has too many fields for the narrow column.
    pub fn is_wide(&self) -> bool {
        matches!(&self.input, AnswerInput::Form(controls) if controls.len() > MAX_NARROW_FIELDS)
    }

    /// A form with secrets has no preview, because secrets are never sent back to the page.
    pub fn offers_preview(&self) -> bool {
        match &self.input {
            AnswerInput::Form(controls) => !controls.iter().any(|control| control.sensitive),
            AnswerInput::Nothing
            | AnswerInput::Press(_)
            | AnswerInput::One(_)
            | AnswerInput::Many(_)
            | AnswerInput::Text { .. }
            | AnswerInput::Work(_) => false,
        }
    }
}

impl RefusedAttempt<'_> {
    fn sent(&self, name: &str) -> String {
        self.sent
            .map(|fields| normalize_newlines(fields.text(name)))
            .unwrap_or_default()
    }

    /// The text to fill in again. Sensitive text has to be typed again.
    fn typed(&self, name: &str, content: &Content) -> String {
        if content.sensitive {
            String::new()
        } else {
            self.sent(name)
        }
    }

    /// Reminds the person to type a sensitive comment or reason again, because it is not filled in.
    fn withheld(&self, name: &str, content: &Content) -> Vec<String> {
        let is_withheld = content.sensitive && !self.sent(name).trim().is_empty();
        let message = || {
            let phrase = match name {
                "comment" => t("type the comment again: sensitive text is not filled in a second time"),
                _ => t("type the reason again: sensitive text is not filled in a second time"),
            };
            phrase.to_owned()
        };
        is_withheld.then(message).into_iter().collect()
    }
}

/// The choices of a confirm and of a run's permission are buttons that answer at once; other choices are sent with a
/// button of their own.
fn input(ask: &Ask, content: &Content, is_run: bool, attempt: &RefusedAttempt<'_>) -> AnswerInput {
    if !ask.may_respond {
        return AnswerInput::Nothing;
    }
    let offers = |options: &[Choice]| offers(&ask.question, options, attempt.sent);
    match &ask.question {
        Question::Confirm { options, .. } => AnswerInput::Press(offers(options)),
        Question::Select {
            options, many: false, ..
        } if is_run => AnswerInput::Press(offers(options).into_iter().map(permission_offer).collect()),
        Question::Select {
            options, many: false, ..
        } => AnswerInput::One(offers(options)),
        Question::Select {
            options, many: true, ..
        } => AnswerInput::Many(offers(options)),
        Question::Text => AnswerInput::Text {
            value: attempt.typed("value", content),
            may_be_empty: ask.may_be_empty,
        },
        Question::Form { schema } => {
            let fields = form::fields(schema);
            let is_only = fields.len() == 1;
            let shown = |field: form::Field| {
                let sensitive = field.sensitive || content.sensitive;
                let kind = if is_only && !sensitive {
                    with_room(field.kind)
                } else {
                    field.kind
                };
                form::Field {
                    sensitive,
                    kind,
                    ..field
                }
            };
            let controls = fields.into_iter().map(shown).enumerate();
            AnswerInput::Form(
                controls
                    .map(|(index, field)| control_of(&field, index, attempt.sent, attempt.faults))
                    .collect(),
            )
        }
    }
}

/// The only text of a form gets several lines, because it is the whole answer.
fn with_room(kind: form::FieldKind) -> form::FieldKind {
    match kind {
        form::FieldKind::Text {
            format: None,
            pattern: None,
            min_length,
            max_length,
            ..
        } => form::FieldKind::Text {
            multiline: true,
            format: None,
            pattern: None,
            min_length,
            max_length,
        },
        other => other,
    }
}

/// Only the decisions about this one call say yes or no; those about the whole run are picked on purpose.
fn permission_offer(offer: ChoiceOffer) -> ChoiceOffer {
    let role = match Decision::parse(&offer.value) {
        Some(Decision::Allow) => "approve",
        Some(Decision::Deny) => "deny",
        Some(Decision::AllowSession | Decision::DenySession) | None => "",
    };
    ChoiceOffer { role, ..offer }
}

fn offers(question: &Question, options: &[Choice], sent: Option<&FormFields>) -> Vec<ChoiceOffer> {
    let yes = approval(question);
    let no = denial(question);
    let offer = |(index, option): (usize, &Choice)| ChoiceOffer {
        value: option.value.clone(),
        label: choice_label(option).to_owned(),
        description: option.description.clone().filter(|text| !text.is_empty()),
        key: Some(index + 1).filter(|key| *key <= MAX_SHORTCUT_KEYS),
        role: match option {
            option if Some(option) == yes => "approve",
            option if Some(option) == no => "deny",
            _ => "",
        },
        chosen: sent.is_some_and(|fields| fields.all("value").any(|value| value == option.value)),
    };
    options.iter().enumerate().map(offer).collect()
}

fn own_words(ask: &Ask, content: &Content, attempt: &RefusedAttempt<'_>) -> Option<OwnWords> {
    let own = || OwnWords {
        value: attempt.typed("typed", content),
        is_long: ask.open_ended,
        errors: attempt.faults.of("typed"),
    };
    (takes_own_words(ask) && ask.may_respond).then(own)
}

fn attach(content: &Content, attempt: &RefusedAttempt<'_>) -> Option<AttachInput> {
    let Payload::Ask(ask) = &content.payload else {
        return None;
    };
    let lost = || {
        attempt
            .sent
            .into_iter()
            .flat_map(|fields| fields.all(FILES))
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let attach = || AttachInput {
        max_files: MAX_FILES,
        max_file_bytes: MAX_FILE_BYTES,
        max_total_bytes: MAX_FILES_BYTES,
        max_file_size: size(MAX_FILE_BYTES),
        max_total_size: size(MAX_FILES_BYTES),
        lost: lost(),
        errors: attempt.faults.of(FILES),
    };
    (ask.open_ended && ask.may_respond).then(attach)
}

fn withdrawn(ask: &Ask, is_run: bool) -> Option<&'static str> {
    match (ask.may_respond, ask.may_decline) {
        (true, false) if is_run => Some(t("The run waits for your answer. To end it instead, stop the run.")),
        (true, true) => None,
        (false, true) => Some(t("The agent accepts no answer to this. You can only skip it.")),
        (true, false) => Some(t("This cannot be skipped.")),
        (false, false) => Some(t(
            "The agent accepts no answer to this. It ends when it expires or the agent withdraws it.",
        )),
    }
}

fn reject(ask: &Ask, content: &Content, presets: Vec<String>, attempt: &RefusedAttempt<'_>) -> Option<RejectForm> {
    let denial = denial(&ask.question)
        .filter(|_| ask.may_respond)
        .map(|choice| choice_label(choice).to_owned());
    if denial.is_none() && !ask.may_decline {
        return None;
    }
    let picked = attempt.sent("preset");
    Some(RejectForm {
        verdict: if denial.is_some() { "denied" } else { "declined" },
        also_decline: denial.is_some() && ask.may_decline,
        denial,
        is_other: picked.is_empty(),
        is_open: !picked.is_empty() || !attempt.sent("reason").is_empty(),
        presets: presets
            .into_iter()
            .map(|text| Preset {
                chosen: text == picked,
                text,
            })
            .collect(),
        reason: attempt.typed("reason", content),
    })
}

fn ticks(task: &Task, sent: Option<&FormFields>) -> Vec<Tick> {
    let items = task.checklist.iter().enumerate();
    let tick = |(index, item): (usize, &countersign_protocol::a2h::CheckItem)| Tick {
        index,
        text: item.text.clone(),
        done: match sent {
            Some(fields) => fields.all("done").any(|sent| sent == index.to_string()),
            None => item.done,
        },
    };
    items.map(tick).collect()
}
