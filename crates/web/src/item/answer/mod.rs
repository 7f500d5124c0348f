//! The form by which an open message is decided.

pub mod control;
pub mod faults;
pub mod parse;
pub mod roles;
pub mod typed;

use countersign_core::form;
use countersign_core::limits::{MAX_FILE_BYTES, MAX_FILES, MAX_FILES_BYTES};
use countersign_core::message::Task;
use countersign_core::question::Ask;
use countersign_core::{Content, Matter, Message, Question};
use countersign_hub::inbox::asker::OfRun;
use countersign_protocol::a2h::Choice;

use self::control::{Control, control_of};
use self::faults::Faults;
use self::parse::{lines, takes_own_words};
use self::roles::{approval, denial};
use crate::frame::form::Fields;
use crate::frame::format::size;
use crate::frame::upload::FILES;

/// Keys reach the first nine.
const MOST_KEYS: usize = 9;

pub struct Answer {
    pub wanted: Wanted,
    /// An answer in the person's own words is taken, too.
    pub own_words: Option<OwnWords>,
    /// Files may come with it.
    pub files: Option<Attach>,
    /// What the asker does not take, in words.
    pub withdrawn: Option<&'static str>,
    /// A run goes on with the answer alone.
    pub takes_comment: bool,
    pub reject: Option<Reject>,
    pub comment: String,
    pub is_sensitive: bool,
    pub errors: Vec<String>,
    pub value_errors: Vec<String>,
    pub comment_errors: Vec<String>,
}

pub enum Wanted {
    /// Answering is withdrawn.
    Nothing,
    Press(Vec<Offer>),
    One(Vec<Offer>),
    Many(Vec<Offer>),
    Text {
        value: String,
        may_be_empty: bool,
    },
    Form(Vec<Control>),
    Work(Vec<Tick>),
}

pub struct Offer {
    pub value: String,
    pub label: String,
    pub description: Option<String>,
    pub key: Option<usize>,
    pub role: &'static str,
    pub chosen: bool,
}

pub struct OwnWords {
    /// What was sent before; a secret is typed anew.
    pub value: String,
    /// There is room for several lines.
    pub is_long: bool,
    pub errors: Vec<String>,
}

pub struct Attach {
    pub most: usize,
    pub most_bytes: u64,
    pub most_bytes_together: u64,
    pub each: String,
    pub together: String,
    /// A browser does not keep what was attached.
    pub lost: Vec<String>,
    pub errors: Vec<String>,
}

pub struct Tick {
    pub index: usize,
    pub text: String,
    pub done: bool,
}

pub struct Reject {
    /// `denied` answers with the choice that says no, `declined` gives no answer at all.
    pub verdict: &'static str,
    /// The label of the choice that says no.
    pub denial: Option<String>,
    pub also_decline: bool,
    pub presets: Vec<Preset>,
    pub reason: String,
    pub is_open: bool,
}

pub struct Preset {
    pub text: String,
    pub chosen: bool,
}

/// What was sent before and what was wrong with it, if that is why the form is shown again.
pub struct Again<'a> {
    pub sent: Option<&'a Fields>,
    pub faults: &'a Faults,
}

impl Answer {
    /// A notify has none.
    pub fn of(message: &Message, presets: Vec<String>, again: &Again<'_>) -> Option<Self> {
        let content = &message.content;
        let faults = again.faults;
        let is_run = OfRun::of(&message.source).is_some();
        let (wanted, own_words, withdrawn, reject) = match &content.matter {
            Matter::Ask(ask) => (
                wanted(ask, content, again),
                own_words(ask, content, again),
                withdrawn(ask, is_run),
                reject(ask, content, presets, again),
            ),
            Matter::Task(task) => (Wanted::Work(ticks(task, again.sent)), None, None, None),
            Matter::Notify => return None,
        };
        Some(Self {
            wanted,
            own_words,
            files: attach(content, again),
            withdrawn,
            takes_comment: !is_run,
            reject,
            comment: again.typed("comment", content),
            is_sensitive: content.sensitive,
            errors: [faults.of(""), again.withheld("reason", content)].concat(),
            value_errors: faults.of("value"),
            comment_errors: [faults.of("comment"), again.withheld("comment", content)].concat(),
        })
    }
}

impl Again<'_> {
    fn sent(&self, name: &str) -> String {
        self.sent.map(|fields| lines(fields.text(name))).unwrap_or_default()
    }

    /// What was typed, to go on from there. What is sensitive is typed anew.
    fn typed(&self, name: &str, content: &Content) -> String {
        if content.sensitive {
            String::new()
        } else {
            self.sent(name)
        }
    }

    /// A comment or a reason that is not shown again must not be forgotten over it.
    fn withheld(&self, name: &str, content: &Content) -> Vec<String> {
        let is_withheld = content.sensitive && !self.sent(name).trim().is_empty();
        let message = || format!("write the {name} again: what is sensitive is not shown a second time");
        is_withheld.then(message).into_iter().collect()
    }
}

fn wanted(ask: &Ask, content: &Content, again: &Again<'_>) -> Wanted {
    if !ask.may_respond {
        return Wanted::Nothing;
    }
    let offers = |options: &[Choice]| offers(&ask.question, options, again.sent);
    match &ask.question {
        Question::Confirm { options, .. } => Wanted::Press(offers(options)),
        Question::Select {
            options, many: false, ..
        } => Wanted::One(offers(options)),
        Question::Select {
            options, many: true, ..
        } => Wanted::Many(offers(options)),
        Question::Text => Wanted::Text {
            value: again.typed("value", content),
            may_be_empty: ask.may_be_empty,
        },
        Question::Form { schema } => {
            let fields = form::fields(schema).into_iter().enumerate();
            let hide = |field: form::Field| form::Field {
                sensitive: field.sensitive || content.sensitive,
                ..field
            };
            Wanted::Form(
                fields
                    .map(|(index, field)| control_of(&hide(field), index, again.sent, again.faults))
                    .collect(),
            )
        }
    }
}

fn offers(question: &Question, options: &[Choice], sent: Option<&Fields>) -> Vec<Offer> {
    let yes = approval(question);
    let no = denial(question);
    let offer = |(index, option): (usize, &Choice)| Offer {
        value: option.value.clone(),
        label: option.label.clone(),
        description: option.description.clone().filter(|text| !text.is_empty()),
        key: Some(index + 1).filter(|key| *key <= MOST_KEYS),
        role: match option {
            option if Some(option) == yes => "approve",
            option if Some(option) == no => "deny",
            _ => "",
        },
        chosen: sent.is_some_and(|fields| fields.all("value").any(|value| value == option.value)),
    };
    options.iter().enumerate().map(offer).collect()
}

fn own_words(ask: &Ask, content: &Content, again: &Again<'_>) -> Option<OwnWords> {
    let words = || OwnWords {
        value: again.typed("typed", content),
        is_long: ask.open_ended,
        errors: again.faults.of("typed"),
    };
    (takes_own_words(ask) && ask.may_respond).then(words)
}

fn attach(content: &Content, again: &Again<'_>) -> Option<Attach> {
    let Matter::Ask(ask) = &content.matter else { return None };
    let lost = || {
        again
            .sent
            .into_iter()
            .flat_map(|fields| fields.all(FILES))
            .map(str::to_owned)
            .collect()
    };
    let attach = || Attach {
        most: MAX_FILES,
        most_bytes: MAX_FILE_BYTES,
        most_bytes_together: MAX_FILES_BYTES,
        each: size(MAX_FILE_BYTES),
        together: size(MAX_FILES_BYTES),
        lost: lost(),
        errors: again.faults.of(FILES),
    };
    (ask.open_ended && ask.may_respond).then(attach)
}

fn withdrawn(ask: &Ask, is_run: bool) -> Option<&'static str> {
    match (ask.may_respond, ask.may_decline) {
        (true, false) if is_run => Some("The run waits until somebody answers, or stops it."),
        (true, true) => None,
        (false, true) => Some("The agent takes no answer to this. You can only decline it."),
        (true, false) => Some("The agent does not let you decline this. You can answer it, or leave it."),
        (false, false) => Some("The agent takes neither an answer nor a decline. It ends by itself or by the agent."),
    }
}

fn reject(ask: &Ask, content: &Content, presets: Vec<String>, again: &Again<'_>) -> Option<Reject> {
    let denial = denial(&ask.question)
        .filter(|_| ask.may_respond)
        .map(|choice| choice.label.clone());
    if denial.is_none() && !ask.may_decline {
        return None;
    }
    let picked = again.sent("preset");
    Some(Reject {
        verdict: if denial.is_some() { "denied" } else { "declined" },
        also_decline: denial.is_some() && ask.may_decline,
        denial,
        is_open: !picked.is_empty() || !again.sent("reason").is_empty(),
        presets: presets
            .into_iter()
            .map(|text| Preset {
                chosen: text == picked,
                text,
            })
            .collect(),
        reason: again.typed("reason", content),
    })
}

fn ticks(task: &Task, sent: Option<&Fields>) -> Vec<Tick> {
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
