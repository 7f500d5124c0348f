//! GET /inbox/pulse: what waits, how long decisions take and how they end, in figures and small charts.

pub mod chart;
mod period;

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::get;
use countersign_core::vocabulary::Tone;
use countersign_hub::Hub;
use countersign_hub::problem::Problem;
use countersign_store::ops::pulse::{
    AgentGroup, AgentVolume, Figures, MAX_DECISIONS, MAX_RECEIVED, ReadPulse, SPAN_ENDS,
};

use self::chart::{Bar, Chart};
use self::period::{Period, Timeline};
use crate::agents::{KnownNames, agent_href};
use crate::language::{say, t};
use crate::layout::avatar::Avatar;
use crate::layout::filters;
use crate::layout::form::FormFields;
use crate::layout::formatting::{DisplayTime, display_time, span};
use crate::layout::page::{PageError, PageLayout, PageRequest, PageSection, render};
use crate::layout::signed_in_user::SignedInUser;
use crate::layout::zone::ReaderZone;

const ADDRESS: &str = "/inbox/pulse";
const RUNS: &str = "/runs";
/// Agents in the table; those with the most decisions are shown.
const MAX_SHOWN_AGENTS: usize = 12;
/// The tones in the order in which a bar is stacked, with their legend.
const LEGEND: [(Tone, &str); 5] = [
    (Tone::Good, "approved, done"),
    (Tone::Plain, "answered"),
    (Tone::Bad, "denied, not done"),
    (Tone::Late, "expired"),
    (Tone::Quiet, "skipped, withdrawn"),
];

/// The labels of the times to decision.
const SPANS: [&str; SPAN_ENDS.len()] = ["10 s", "1 min", "5 min", "15 min", "1 h", "4 h", "1 d", "more"];

pub fn router() -> Router<Arc<Hub>> {
    Router::new().route(ADDRESS, get(pulse))
}

#[derive(Template)]
#[template(path = "pulse.html")]
struct PulsePage {
    layout: PageLayout,
    period: Period,
    waiting: i64,
    /// Items that a terminal or an agent waits for at this moment.
    waited_for: usize,
    /// When the item that waits longest arrived.
    oldest: Option<DisplayTime>,
    figures: Figures,
    /// Only the latest decisions and messages were read.
    is_cut: bool,
    volume: Chart,
    /// The days are those of UTC, because the reader's zone is not known.
    is_utc: bool,
    durations: Chart,
    agents: Vec<AgentLine>,
    more_agents: usize,
}

struct AgentLine {
    name: String,
    href: String,
    avatar: Avatar,
    volume: AgentVolume,
}

async fn pulse(
    State(hub): State<Arc<Hub>>,
    user: SignedInUser,
    request: PageRequest,
    reader: ReaderZone,
    RawQuery(query): RawQuery,
) -> Result<Response, PageError> {
    let query = FormFields::parse(query.unwrap_or_default().as_bytes());
    let period =
        Period::of(query.text("days")).ok_or_else(|| Problem::validation("days", "days must be 1, 7 or 30"))?;
    let now = hub.store.clock().now();
    let timeline = Timeline::until(now, period, reader.zone);
    let since = timeline.since();
    let facts = hub.store.run(ReadPulse { since }).await?;
    let figures = Figures::of(&facts, &timeline.starts);
    let shown = &figures.agents[..figures.agents.len().min(MAX_SHOWN_AGENTS)];
    let names = KnownNames::of(&hub, shown.iter().filter_map(|(group, _)| group.id())).await?;
    let agents = shown
        .iter()
        .map(|(group, volume)| agent_line(&names, group, volume.clone()))
        .collect();
    let page = PulsePage {
        layout: PageLayout::of(&hub, &user, &request, PageSection::Pulse, t("Pulse")).await?,
        period,
        waiting: facts.waiting,
        waited_for: hub.cue_waiters.waiting().len(),
        oldest: facts.oldest.map(display_time),
        is_cut: facts.is_cut,
        volume: volume_chart(&figures, &timeline),
        is_utc: !reader.is_known,
        durations: duration_chart(&figures),
        more_agents: figures.agents.len().saturating_sub(MAX_SHOWN_AGENTS),
        agents,
        figures,
    };
    Ok(render(StatusCode::OK, &page))
}

fn agent_line(names: &KnownNames, group: &AgentGroup, volume: AgentVolume) -> AgentLine {
    let (avatar, name, href) = match group {
        AgentGroup::Agent(id) => {
            let name = names.name(id);
            (Avatar::of(id, &name), name, agent_href(id))
        }
        AgentGroup::InRuns(name) => (
            Avatar::of(name, name),
            say!("{name} in runs", name = name),
            RUNS.to_owned(),
        ),
    };
    AgentLine {
        avatar,
        href,
        name,
        volume,
    }
}

fn volume_chart(figures: &Figures, timeline: &Timeline) -> Chart {
    let bars = figures.steps.iter().zip(timeline.labels()).map(|(tones, label)| {
        let counted = LEGEND.iter().filter(|(tone, _)| tones.count(*tone) > 0);
        let parts: Vec<String> = counted
            .map(|(tone, words)| say!("{count} {words}", count = tones.count(*tone), words = t(words)))
            .collect();
        Bar {
            title: match parts.as_slice() {
                [] => say!("{label}: none", label = label),
                parts => say!("{label}: {figures}", label = label, figures = parts.join("; ")),
            },
            label,
            parts: LEGEND.map(|(tone, _)| (tone.as_str(), tones.count(tone))).to_vec(),
        }
    });
    Chart::of(bars.collect())
}

fn duration_chart(figures: &Figures) -> Chart {
    let bars = SPANS.iter().zip(figures.spans).map(|(label, count)| Bar {
        title: say!("{label}: {figures}", label = t(label), figures = count),
        label: t(label).to_owned(),
        parts: vec![("accent", count)],
    });
    Chart::of(bars.collect())
}
