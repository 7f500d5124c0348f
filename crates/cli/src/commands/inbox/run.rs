//! The live inbox: keys, news and replies go into the state, what comes out is drawn and done.

mod screen;

use std::sync::Arc;
use std::time::Instant;

use anyhow::Result;
use crossterm::event::{Event, EventStream, KeyEventKind};
use futures_util::StreamExt;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use tokio::sync::mpsc::{self, Sender};
use tokio::time::sleep;

use super::filter::Filter;
use super::state::{Effect, Input, Listing, Now, Reply, State};
use super::{feed, hub, presets};
use crate::client::{Client, Reach};
use crate::stops::{self, Stops};
use screen::Screen;

const WAITING_INPUTS: usize = 256;
const FIRST_ROWS: usize = 100;

pub async fn run(client: &Client, filter: Filter, bell: bool) -> Result<String> {
    let reach = Arc::new(Reach::new(client.location().clone())?);
    let clock = Clock {
        started: Instant::now(),
    };
    // Before the screen is taken: a hub that cannot be reached is told in a plain line.
    let mut state = begin(client, &filter, &clock).await?;
    let (inputs, mut arrived) = mpsc::channel(WAITING_INPUTS);
    let mut stops = Stops::new()?;
    // On a thread without a runtime of its own, where another one may be made.
    tokio::task::spawn_blocking(stops::end_with_the_terminal).await??;
    let mut screen = Screen::enter()?;
    let mut keys = EventStream::new();
    let desk = Desk {
        reach: Arc::clone(&reach),
        filter,
        bell,
        inputs: inputs.clone(),
    };
    tokio::spawn(async move { feed::run(&reach, &inputs).await });
    loop {
        screen.draw(&mut state)?;
        let first = tokio::select! {
            event = keys.next() => match event {
                Some(Ok(event)) => input(event),
                // The terminal is gone.
                Some(Err(_)) | None => break,
            },
            Some(input) = arrived.recv() => Some(input),
            () = sleep(state.wake_in()) => Some(Input::Tick),
            () = stops.any() => break,
        };
        // Whatever else has arrived goes into the same picture.
        let more = std::iter::from_fn(|| arrived.try_recv().ok());
        let effects: Vec<Effect> = first
            .into_iter()
            .chain(more)
            .flat_map(|input| state.update(input, clock.now()))
            .collect();
        if effects.contains(&Effect::Quit) {
            break;
        }
        effects.into_iter().for_each(|effect| desk.start(effect));
    }
    Ok(String::new())
}

async fn begin(client: &Client, filter: &Filter, clock: &Clock) -> Result<State> {
    let page = hub::load(client, filter, &Listing::Waiting, None, FIRST_ROWS);
    let (page, presets) = tokio::try_join!(page, presets::read(client))?;
    let mut state = State::new(filter.clone(), TimeZone::system(), clock.now());
    let loaded = Reply::Loaded {
        listing: Listing::Waiting,
        appends: false,
        page: Ok(page),
    };
    for reply in [loaded, Reply::Presets(Ok(presets))] {
        state.update(Input::Reply(reply), clock.now());
    }
    Ok(state)
}

struct Clock {
    started: Instant,
}

impl Clock {
    fn now(&self) -> Now {
        Now {
            at: Timestamp::now(),
            elapsed: self.started.elapsed(),
        }
    }
}

/// Where effects are carried out; what comes of them arrives as input.
struct Desk {
    reach: Arc<Reach>,
    filter: Filter,
    bell: bool,
    inputs: Sender<Input>,
}

impl Desk {
    fn start(&self, effect: Effect) {
        if effect == Effect::Ring {
            if self.bell {
                screen::ring();
            }
            return;
        }
        let client = self.reach.client();
        let filter = self.filter.clone();
        let inputs = self.inputs.clone();
        tokio::spawn(async move {
            if let Some(reply) = hub::perform(&client, &filter, effect).await {
                // Nobody listens any more only when the program ends.
                let _ = inputs.send(Input::Reply(reply)).await;
            }
        });
    }
}

/// A new size needs nothing but a new picture.
fn input(event: Event) -> Option<Input> {
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => Some(Input::Key(key)),
        Event::Paste(text) => Some(Input::Paste(text)),
        Event::Key(_) | Event::Resize(..) | Event::FocusGained | Event::FocusLost | Event::Mouse(_) => None,
    }
}
