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
    }
}

fn input(agent: &str) -> Event {
    Event::RequestInput {
        agent_name: agent.to_owned(),
        prompt: None,
        input_id: "1".to_owned(),
    }
}

/// The entries in a few letters.
fn shape(timeline: &Timeline) -> Vec<String> {
    let one = |entry: &Entry| match entry {
        Entry::Began { seq, .. } => format!("{seq} began"),
        Entry::Step(step) => {
            let ending = if step.done.is_some() { "done" } else { "now" };
            format!("{} {}+{} {ending}", step.seq, step.name, step.happened.len())
        }
        Entry::Happened(happened) => format!("{} happened", happened.seq),
        Entry::Completed { seq, .. } => format!("{seq} completed"),
        Entry::Failed { seq, code, .. } => format!("{seq} {code}"),
    };
    timeline.entries.iter().map(one).collect()
}

#[test]
fn what_happens_in_a_step_belongs_to_it_and_what_happens_between_steps_stands_by_itself() {
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
        "9 happened",
        "10 user+0 now",
        "11 completed",
    ];
    assert_eq!(shape(&timeline), expected);
    assert_eq!((timeline.earlier, timeline.newest), (None, 11));
}

#[test]
fn a_long_run_is_read_from_the_start_of_a_step_and_says_that_there_is_more() {
    let step = [started("a", "x"), output("a", "y"), completed("a", "y")];
    let events: Vec<Event> = step.iter().cycle().take(600).cloned().collect();
    let all = stored(&events);
    let latest = all[all.len() - MOST_EVENTS - 1..].to_vec();
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
fn a_step_whose_start_is_far_away_is_shown_without_it() {
    let events: Vec<Event> = (0..MOST_EVENTS)
        .map(|_| output("a", "y"))
        .chain([completed("flow", "z")])
        .collect();
    let timeline = read(stored(&events)).unwrap();
    assert_eq!(timeline.entries.len(), MOST_EVENTS);
    let Some(Entry::Step(last)) = timeline.entries.last() else {
        panic!("a step")
    };
    assert!(last.began.is_none() && last.name == "flow" && last.done.is_some());
}

#[test]
fn of_a_long_text_the_start_is_shown_and_the_rest_counted() {
    let long = "é".repeat(MOST_SHOWN);
    let timeline = read(stored(&[started("a", &long)])).unwrap();
    let Some(Entry::Step(Step {
        began: Some((at, text)),
        ..
    })) = timeline.entries.first()
    else {
        panic!("a step")
    };
    assert_eq!((text.shown.len() + text.left, *at, text.seq), (long.len(), NOW, 1));
    assert!(text.shown.len() <= MOST_SHOWN);
}
