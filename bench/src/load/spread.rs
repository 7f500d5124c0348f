use std::cell::Cell;
use std::sync::Arc;

use anyhow::Result;

use super::closed_loop::worker;
use super::meter::{Meter, Sample, Window, in_window, run_to_completion};
use super::request::Slot;
use super::work::Work;
use crate::process::Target;

/// One connection: its server and its work.
pub struct Worker {
    pub target: Target,
    pub work: Work,
}

/// Measures workers that each have their own server and their own work. The captured ids are interleaved by connection.
pub async fn measure_spread(servers: &[u32], workers: Vec<Worker>, window: Window) -> Result<Sample> {
    let workers = Workers::new(workers);
    let (sample, ids) = in_window(servers, workers.count(), window, |meter| workers.next(meter)).await?;
    Ok(Sample {
        ids: interleaved(&ids),
        ..sample
    })
}

/// Does all of the work as fast as possible and returns the captured ids.
pub async fn drain_spread(workers: Vec<Worker>) -> Result<Vec<Slot>> {
    let workers = Workers::new(workers);
    Ok(interleaved(
        &run_to_completion(workers.count(), |meter| workers.next(meter)).await?,
    ))
}

struct Workers {
    all: Vec<(Target, Arc<Work>)>,
    next: Cell<usize>,
}

impl Workers {
    fn new(workers: Vec<Worker>) -> Self {
        let all = workers
            .into_iter()
            .map(|Worker { target, work }| (target, Arc::new(work)))
            .collect();
        Self {
            all,
            next: Cell::new(0),
        }
    }

    fn count(&self) -> usize {
        self.all.len()
    }

    fn next(&self, meter: Arc<Meter>) -> impl Future<Output = Result<Vec<Slot>>> + Send + 'static + use<> {
        let (target, work) = &self.all[self.next.replace(self.next.get() + 1)];
        worker(*target, Arc::clone(work), meter)
    }
}

/// The first id of each connection, then the second of each: neighbours belong to different agents, as under real load.
fn interleaved(ids: &[Vec<Slot>]) -> Vec<Slot> {
    let longest = ids.iter().map(Vec::len).max().unwrap_or(0);
    (0..longest)
        .flat_map(|place| ids.iter().filter_map(move |of_one| of_one.get(place).copied()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_of_different_connections() {
        let (a, b, c) = ([b'a'; 30], [b'b'; 30], [b'c'; 30]);
        assert_eq!(interleaved(&[vec![a, b], vec![c]]), [a, c, b]);
        assert_eq!(interleaved(&[]), Vec::<Slot>::new());
    }
}
