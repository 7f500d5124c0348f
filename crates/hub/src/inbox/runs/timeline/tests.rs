use countersign_protocol::runs::StepResult;

use super::*;

const NOW: Timestamp = Timestamp::from_millis(1_000);

fn stored(events: &[Event]) -> Vec<StoredEvent> {
    let numbered = (1..).zip(events);
    numbered
        .filter_map(|(seq, event)| StoredEvent::of(event, seq, &event.frame("r", seq, NOW, None)))
        .collect()
}

fn started(name: &str, message: &str) -> Event {
    Event::StepStarted {
        step_name: name.to_owned(),
        message: message.to_owned(),
    }
}

fn completed(name: &str, text: &str) -> Event {
    let text = text.to_owned();
    let finish_reason = "stop".to_owned();
    Event::StepCompleted {
        step_name: name.to_owned(),
        result: StepResult {
            text,
            usage: Usage::default(),
            context_usage: None,
            finish_reason,
        },
    }
}

fn output(agent: &str, text: &str) -> Event {
    Event::AgentOutput {
        agent_name: agent.to_owned(),
        model: None,
        text: text.to_owned(),
        usage: Usage::default(),
        context_usage: None,
    }
}

fn input(agent: &str) -> Event {
    Event::RequestInput {
        agent_name: agent.to_owned(),
        prompt: None,
        input_id: "1".to_owned(),
    }
}

/// The entries in short form.
fn shape(timeline: &Timeline) -> Vec<String> {
    let one = |entry: &TimelineEntry| match entry {
        TimelineEntry::Began { seq, .. } => format!("{seq} began"),
        TimelineEntry::Step(step) => {
            let ending = if step.done.is_some() { "done" } else { "now" };
            format!("{} {}+{} {ending}", step.seq, step.name, step.notes.len())
        }
        TimelineEntry::Note(note) => format!("{} note", note.seq),
        TimelineEntry::Completed { seq, .. } => format!("{seq} completed"),
        TimelineEntry::Failed { seq, code, .. } => format!("{seq} {code}"),
    };
    timeline.entries.iter().map(one).collect()
}

#[test]
fn events_in_a_step_belong_to_it_and_events_between_steps_are_entries_of_their_own() {
    let begun = Event::StrategyStarted {
        strategy_name: "S".to_owned(),
        agents: Vec::new(),
        flow_tree: serde_json::json!({}),
    };
    let ended = Event::StrategyCompleted {
        result: "b".to_owned(),
        usage: Usage::default(),
    };
    let events = [
        begun,
        started("user", ""),
        input("user"),
        completed("user", "a"),
        started("flow", "a"),
        output("one", "x"),
        output("two", "b"),
        completed("flow", "b"),
        output("observer", "done"),
        started("user", "b"),
        ended,
    ];
    let timeline = read(stored(&events)).unwrap();
    let expected = [
        "1 began",
        "2 user+1 done",
        "5 flow+2 done",
        "9 note",
        "10 user+0 now",
        "11 completed",
    ];
    assert_eq!(shape(&timeline), expected);
    assert_eq!((timeline.earlier, timeline.newest), (None, 11));
}

#[test]
fn page_of_a_long_run_begins_with_a_whole_step_and_says_that_there_is_more() {
    let step = [started("a", "x"), output("a", "y"), completed("a", "y")];
    let events: Vec<Event> = step.iter().cycle().take(600).cloned().collect();
    let all = stored(&events);
    let latest = all[all.len() - MAX_EVENTS - 1..].to_vec();
    let timeline = read(latest).unwrap();
    assert_eq!((timeline.entries.len(), timeline.newest), (33, 600));
    assert_eq!(timeline.earlier, Some(502));
    assert!(
        shape(&timeline).iter().all(|entry| entry.ends_with("a+1 done")),
        "{:?}",
        shape(&timeline)
    );
}

#[test]
fn step_that_started_before_the_page_is_shown_without_its_start() {
    let events: Vec<Event> = (0..MAX_EVENTS)
        .map(|_| output("a", "y"))
        .chain([completed("flow", "z")])
        .collect();
    let timeline = read(stored(&events)).unwrap();
    assert_eq!(timeline.entries.len(), MAX_EVENTS);
    let Some(TimelineEntry::Step(last)) = timeline.entries.last() else {
        panic!("a step")
    };
    assert!(last.began.is_none() && last.name == "flow" && last.done.is_some());
}

#[test]
fn long_text_is_cut_and_the_cut_bytes_are_counted() {
    let long = "é".repeat(MAX_TEXT_BYTES);
    let timeline = read(stored(&[started("a", &long)])).unwrap();
    let Some(TimelineEntry::Step(TimelineStep {
        began: Some((at, text)),
        ..
    })) = timeline.entries.first()
    else {
        panic!("a step")
    };
    assert_eq!(
        (text.shown.len() + text.omitted_bytes, *at, text.seq),
        (long.len(), NOW, 1)
    );
    assert!(text.shown.len() <= MAX_TEXT_BYTES);
}
