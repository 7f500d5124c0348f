//! The live inbox: keys, events and replies go into the state; its effects are carried out and the screen is drawn.

mod screen;

use std::sync::Arc;
use std::time::Instant;

use anyhow::Result;
use countersign_client::hub::{HubClient, RelocatingClient};
use countersign_client::stop_signals::{self, StopSignals};
use crossterm::event::{Event, EventStream, KeyEventKind};
use futures_util::StreamExt;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use screen::Screen;
use tokio::sync::mpsc::{self, Sender};
use tokio::time::sleep;

use super::filter::InboxFilter;
use super::state::{Effect, InboxInput, InboxReply, InboxState, Listing, Now};
use super::{feed, hub_calls, presets};

const MAX_QUEUED_INPUTS: usize = 256;
const FIRST_ROWS: usize = 100;

pub async fn run(client: &HubClient, filter: InboxFilter, bell: bool, colours: bool) -> Result<String> {
    let hub_client = Arc::new(RelocatingClient::new(client.location().clone())?);
    let clock = InboxClock {
        started: Instant::now(),
    };
    // Loaded before the screen is taken over, so that an unreachable hub is reported as a plain line.
    let mut state = begin(client, &filter, &clock).await?;
    let (inputs, mut arrived) = mpsc::channel(MAX_QUEUED_INPUTS);
    let mut stops = StopSignals::new()?;
    // On a blocking thread, because that function builds a runtime of its own.
    tokio::task::spawn_blocking(stop_signals::exit_on_hangup).await??;
    let mut screen = Screen::enter(colours)?;
    let mut keys = EventStream::new();
    let runner = EffectRunner {
        hub_client: Arc::clone(&hub_client),
        filter,
        bell,
        inputs: inputs.clone(),
    };
    tokio::spawn(async move { feed::run(&hub_client, &inputs).await });
    loop {
        screen.draw(&mut state)?;
        let first = tokio::select! {
            event = keys.next() => match event {
                Some(Ok(event)) => input(event),
                // The terminal is gone.
                Some(Err(_)) | None => break,
            },
            Some(input) = arrived.recv() => Some(input),
            () = sleep(state.wake_in()) => Some(InboxInput::Tick),
            () = stops.any() => break,
        };
        // All pending inputs go into the same frame.
        let more = std::iter::from_fn(|| arrived.try_recv().ok());
        let effects: Vec<Effect> = first
            .into_iter()
            .chain(more)
            .flat_map(|input| state.update(input, clock.now()))
            .collect();
        if effects.contains(&Effect::Quit) {
            break;
        }
        effects.into_iter().for_each(|effect| runner.start(effect));
    }
    Ok(String::new())
}

async fn begin(client: &HubClient, filter: &InboxFilter, clock: &InboxClock) -> Result<InboxState> {
    let page = hub_calls::load(client, filter, &Listing::Waiting, None, FIRST_ROWS);
    let (page, presets) = tokio::try_join!(page, presets::read(client))?;
    let mut state = InboxState::new(filter.clone(), TimeZone::system(), clock.now());
    let loaded = InboxReply::Loaded {
        listing: Listing::Waiting,
        appends: false,
        page: Ok(page),
    };
    for reply in [loaded, InboxReply::Presets(Ok(presets))] {
        state.update(InboxInput::Reply(reply), clock.now());
    }
    Ok(state)
}

struct InboxClock {
    started: Instant,
}

impl InboxClock {
    fn now(&self) -> Now {
        Now {
            at: Timestamp::now(),
            elapsed: self.started.elapsed(),
        }
    }
}

/// Carries out effects; their results arrive as input.
struct EffectRunner {
    hub_client: Arc<RelocatingClient>,
    filter: InboxFilter,
    bell: bool,
    inputs: Sender<InboxInput>,
}

impl EffectRunner {
    fn start(&self, effect: Effect) {
        if effect == Effect::Ring {
            if self.bell {
                screen::ring();
            }
            return;
        }
        let client = self.hub_client.client();
        let filter = self.filter.clone();
        let inputs = self.inputs.clone();
        tokio::spawn(async move {
            if let Some(reply) = hub_calls::perform(&client, &filter, effect).await {
                // The receiver is dropped only when the program ends.
                let _ = inputs.send(InboxInput::Reply(reply)).await;
            }
        });
    }
}

/// A resize needs only a redraw.
fn input(event: Event) -> Option<InboxInput> {
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => Some(InboxInput::Key(key)),
        Event::Paste(text) => Some(InboxInput::Paste(text)),
        Event::Key(_) | Event::Resize(..) | Event::FocusGained | Event::FocusLost | Event::Mouse(_) => None,
    }
}
