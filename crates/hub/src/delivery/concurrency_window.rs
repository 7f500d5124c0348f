//! Adaptive concurrency of push attempts to one host.

use countersign_core::delivery::Attempt;

const INITIAL_SIZE: usize = 8;

/// Starts small, grows by one with every delivery and halves with every failure. So a host that hangs holds few of the
/// shared slots, and a host that recovers is not flooded.
#[derive(Debug)]
pub struct ConcurrencyWindow {
    size: usize,
    max: usize,
}

impl ConcurrencyWindow {
    pub fn up_to(max: usize) -> Self {
        Self {
            size: INITIAL_SIZE.min(max),
            max,
        }
    }

    pub fn free_slots(&self, in_flight: usize) -> usize {
        self.size.saturating_sub(in_flight)
    }

    pub fn update(&mut self, attempt: &Attempt) {
        match attempt {
            Attempt::Delivered { .. } => self.size = (self.size + 1).min(self.max),
            Attempt::Refused { .. } => {}
            Attempt::Failed { .. } => self.size = (self.size / 2).max(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn window_shrinks_to_one_on_failures_and_grows_to_the_maximum() {
        let mut window = ConcurrencyWindow::up_to(32);
        assert_eq!(window.free_slots(0), 8);
        for _ in 0..10 {
            window.update(&Attempt::Failed { reason: String::new() });
        }
        assert_eq!(window.free_slots(0), 1);
        for _ in 0..100 {
            window.update(&Attempt::Delivered { status: 200 });
        }
        assert_eq!(
            (window.free_slots(0), window.free_slots(31), window.free_slots(40)),
            (32, 1, 0)
        );
        assert_eq!(ConcurrencyWindow::up_to(3).free_slots(0), 3);
    }
}
