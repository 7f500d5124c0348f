use std::sync::Arc;
use std::time::Instant;

use anyhow::Result;

use super::connection::Connection;
use super::meter::{Meter, Sample, Window, in_window, run_to_completion};
use super::request::Slot;
use super::work::{Work, captured_id};
use crate::process::Target;

/// A closed loop: every connection sends its next request as soon as the previous one is answered.
pub async fn measure(target: Target, connections: usize, work: Work, window: Window) -> Result<Sample> {
    let work = Arc::new(work);
    let (sample, ids) = in_window(&[target.pid], connections, window, |meter| {
        worker(target, Arc::clone(&work), meter)
    })
    .await?;
    Ok(Sample {
        ids: ids.concat(),
        ..sample
    })
}

/// Does all of the work as fast as possible and returns the captured ids.
pub async fn drain(target: Target, connections: usize, work: Work) -> Result<Vec<Slot>> {
    let work = Arc::new(work);
    Ok(
        run_to_completion(connections, |meter| worker(target, Arc::clone(&work), meter))
            .await?
            .concat(),
    )
}

pub(super) async fn worker(target: Target, work: Arc<Work>, meter: Arc<Meter>) -> Result<Vec<Slot>> {
    let mut connection = Connection::open(target.address).await?;
    let mut template = work.template.clone();
    let mut ids = Vec::new();
    while !meter.is_over() {
        let Some(slot) = work.slots.next() else { break };
        let started = Instant::now();
        let reply = connection.exchange(template.fill(&slot)).await?;
        meter.record(started.elapsed());
        reply.expect(work.expect)?;
        if work.capture {
            ids.push(captured_id(&reply)?);
        }
    }
    Ok(ids)
}
