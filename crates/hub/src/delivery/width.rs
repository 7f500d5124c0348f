//! How many attempts one host may have under way.

use countersign_core::delivery::Attempt;

const FIRST: usize = 8;

/// Begins small, grows with every delivery, halves with every failure: hosts that hang keep few of the places all
/// hosts share, and a host that comes back is not met with everything at once.
#[derive(Debug)]
pub struct Width {
    now: usize,
    most: usize,
}

impl Width {
    pub fn up_to(most: usize) -> Self {
        Self {
            now: FIRST.min(most),
            most,
        }
    }

    pub fn room(&self, under_way: usize) -> usize {
        self.now.saturating_sub(under_way)
    }

    pub fn learn(&mut self, attempt: &Attempt) {
        match attempt {
            Attempt::Delivered { .. } => self.now = (self.now + 1).min(self.most),
            Attempt::Refused { .. } => {}
            Attempt::Failed { .. } => self.now = (self.now / 2).max(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_silent_host_keeps_one_place_and_a_good_one_gets_all() {
        let mut width = Width::up_to(32);
        assert_eq!(width.room(0), 8);
        for _ in 0..10 {
            width.learn(&Attempt::Failed { reason: String::new() });
        }
        assert_eq!(width.room(0), 1);
        for _ in 0..100 {
            width.learn(&Attempt::Delivered { status: 200 });
        }
        assert_eq!((width.room(0), width.room(31), width.room(40)), (32, 1, 0));
        assert_eq!(Width::up_to(3).room(0), 3);
    }
}
