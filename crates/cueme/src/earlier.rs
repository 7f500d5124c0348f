//! Answers to what this agent asked before, which came while no process of it waited. They are told before anything else,
//! each with its question: an answer without one would be taken for the answer to the last.

use super::failure::Failure;
use super::files::{self, Saved};
use super::finish::Asked;
use super::session::{Remarks, Seat};
use super::setup::settings::Settings;
use super::terminal::out;
use super::wait::Waited;
use super::wire::Cued;

#[derive(Debug)]
pub struct Earlier {
    pub cued: Cued,
    pub saved: Vec<Saved>,
}

/// One call, tried once: what is not told now is kept for the next command. What cannot be saved is kept, too.
pub fn gather(seat: &mut Seat, asked: &Asked, waited: &Waited, settings: &Settings) -> Vec<Earlier> {
    if matches!(waited, Waited::StillOpen { hub_is_away: true }) {
        return Vec::new();
    }
    let now = Some(std::time::Instant::now());
    let kept = match seat.insist(now, Remarks::Silent, |hub| hub.kept(asked.agent_id)) {
        Ok(kept) => kept,
        Err(gave_up) => {
            let error = gave_up.error();
            // A hub of before does not know the call.
            if !error.is_not_found() {
                out::remark(&format!(
                    "warning: answers to earlier questions stay at the hub for now: {error}"
                ));
            }
            return Vec::new();
        }
    };
    let others = kept.into_iter().filter(|cued| cued.id != asked.id);
    let saved = others.map(|cued| save(seat, cued, settings));
    saved
        .filter_map(|earlier| earlier.map_err(|failure| out::remark(&failure.message)).ok())
        .collect()
}

fn save(seat: &mut Seat, cued: Cued, settings: &Settings) -> Result<Earlier, Failure> {
    let saved = files::save(seat, &cued, settings.data.as_deref())?;
    Ok(Earlier { cued, saved })
}
