//! From an outcome to what the agent reads. The hub is told that it was collected only when it has left this process.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use countersign_protocol::hap::CueKind;

use super::failure::Failure;
use super::session::{Remarks, Seat};
use super::setup::settings::Settings;
use super::terminal::out;
use super::wait::Waited;
use super::{earlier, files, json, reply};

/// How long a hub that just gave the answer is told that it arrived.
const COLLECT_PATIENCE: Duration = Duration::from_secs(2);

/// What was asked, as far as this process knows.
pub struct Asked<'a> {
    pub agent_id: &'a str,
    pub id: &'a str,
    pub kind: Option<CueKind>,
}

pub fn finish(seat: &mut Seat, asked: &Asked, waited: &Waited, settings: &Settings) -> Result<ExitCode, Failure> {
    let saved = match waited {
        Waited::Settled(cued) => files::save(seat, cued, settings.data.as_deref())?,
        Waited::StillOpen { .. } => Vec::new(),
    };
    let earlier = earlier::gather(seat, asked, waited, settings);
    let (text, code) = if settings.json {
        (json::line(asked, waited, &saved, &earlier), json::code(waited))
    } else {
        (
            reply::text(asked, waited, &saved, &earlier, settings),
            ExitCode::SUCCESS,
        )
    };
    if let Err(error) = out::write(&text) {
        return Err(Failure::failed(&unwritten(&error, asked, waited)));
    }
    let until = Instant::now() + COLLECT_PATIENCE;
    if let Waited::Settled(cued) = waited {
        collect(seat, &cued.id, until);
    }
    for one in &earlier {
        collect(seat, &one.cued.id, until);
    }
    Ok(code)
}

fn collect(seat: &mut Seat, id: &str, until: Instant) {
    if let Err(gave_up) = seat.insist(Some(until), Remarks::Silent, |hub| hub.collected(id)) {
        let error = gave_up.error();
        out::remark(&format!(
            "warning: the hub does not know that the answer arrived and may give it again: {error}"
        ));
    }
}

fn unwritten(error: &std::io::Error, asked: &Asked, waited: &Waited) -> String {
    let kept = match waited {
        Waited::Settled(_) => "the answer is kept",
        Waited::StillOpen { .. } => "the request is kept",
    };
    let again = out::quoted(asked.agent_id);
    format!("standard output cannot be written: {error}; {kept}: run the same command again, or `cueme resume {again}`")
}
