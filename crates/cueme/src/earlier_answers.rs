//! Uncollected answers to earlier questions of this agent, which arrived while none of its processes waited. They are
//! printed first, each with its question: without it, an agent would take the answer for that to its last question.

use super::failure::Failure;
use super::files::{self, SavedFile};
use super::print_outcome::AskedCue;
use super::session::{HubSession, OutageNotices};
use super::setup::settings::Settings;
use super::terminal::out;
use super::wait::WaitOutcome;
use super::wire::CueView;

#[derive(Debug)]
pub struct EarlierAnswer {
    pub cue: CueView,
    pub saved: Vec<SavedFile>,
}

/// Fetches them in one call, without retries. Answers that cannot be fetched or saved stay at the hub for the next
/// command.
pub fn fetch(
    session: &mut HubSession,
    asked: &AskedCue,
    outcome: &WaitOutcome,
    settings: &Settings,
) -> Vec<EarlierAnswer> {
    if matches!(
        outcome,
        WaitOutcome::StillOpen {
            hub_is_unreachable: true
        }
    ) {
        return Vec::new();
    }
    let now = Some(std::time::Instant::now());
    let uncollected = match session.call_with_retry(now, OutageNotices::Silent, |hub| hub.uncollected(asked.agent_id)) {
        Ok(uncollected) => uncollected,
        Err(retry_error) => {
            let error = retry_error.into_error();
            // Older hubs do not have this route.
            if !error.is_not_found() {
                out::remark(&format!(
                    "warning: answers to earlier questions stay at the hub for now: {error}"
                ));
            }
            return Vec::new();
        }
    };
    let others = uncollected.into_iter().filter(|cue| cue.id != asked.id);
    let saved = others.map(|cue| save(session, cue, settings));
    saved
        .filter_map(|earlier| earlier.map_err(|failure| out::remark(&failure.message)).ok())
        .collect()
}

fn save(session: &mut HubSession, cue: CueView, settings: &Settings) -> Result<EarlierAnswer, Failure> {
    let saved = files::save(session, &cue, settings.data.as_deref())?;
    Ok(EarlierAnswer { cue, saved })
}
