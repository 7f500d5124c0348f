use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

use anyhow::{Context, Result};

use super::connection::Reply;
use super::request::{Slot, Template};

/// Keys are unique within one run of the program, over all servers.
static NEXT_KEY: AtomicU64 = AtomicU64::new(1);

/// The values for the slot of a template, handed out one by one until none is left.
pub enum Slots {
    Keys { left: AtomicU64 },
    Ids { ids: Vec<Slot>, next: AtomicUsize },
}

impl Slots {
    pub fn keys(count: u64) -> Self {
        Self::Keys {
            left: AtomicU64::new(count),
        }
    }

    /// Keys without an end: the window ends the work.
    pub fn endless() -> Self {
        Self::keys(u64::MAX)
    }

    pub fn ids(ids: Vec<Slot>) -> Self {
        Self::Ids {
            ids,
            next: AtomicUsize::new(0),
        }
    }

    pub fn next(&self) -> Option<Slot> {
        match self {
            Self::Keys { left } => {
                left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).ok()?;
                Some(key(NEXT_KEY.fetch_add(1, Relaxed)))
            }
            Self::Ids { ids, next } => ids.get(next.fetch_add(1, Relaxed)).copied(),
        }
    }
}

fn key(number: u64) -> Slot {
    let mut slot = *b"key_00000000000000000000000000";
    let mut rest = number;
    for place in slot[4..].iter_mut().rev() {
        *place = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    slot
}

/// Many requests of one kind.
pub struct Work {
    pub template: Template,
    /// The slots, which may be shared with other work.
    pub slots: Arc<Slots>,
    pub expect: u16,
    /// Whether to collect the message ids of the replies.
    pub capture: bool,
}

impl Work {
    pub fn new(template: Template, slots: impl Into<Arc<Slots>>, expect: u16) -> Self {
        Self {
            template,
            slots: slots.into(),
            expect,
            capture: false,
        }
    }

    pub fn capturing(mut self) -> Self {
        self.capture = true;
        self
    }
}

/// The message id in an acknowledgement.
pub fn captured_id(reply: &Reply<'_>) -> Result<Slot> {
    const MARK: &[u8] = b"\"msg_";
    let start = reply.body.windows(MARK.len()).position(|window| window == MARK);
    let start = start.context("the acknowledgement has no message id")? + 1;
    let id = reply
        .body
        .get(start..start + size_of::<Slot>())
        .context("the message id is cut short")?;
    Ok(id.try_into()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_its_number_padded_to_the_width_of_the_slot() {
        assert_eq!(&key(0), b"key_00000000000000000000000000");
        assert_eq!(&key(120), b"key_00000000000000000000000120");
        assert_eq!(&key(u64::MAX), b"key_00000018446744073709551615");
    }

    #[test]
    fn slots_end_after_their_count_and_never_repeat() {
        let slots = Slots::keys(3);
        let all: std::collections::HashSet<_> = std::iter::from_fn(|| slots.next()).collect();
        assert_eq!(all.len(), 3);
        let slots = Slots::ids(vec![[b'a'; 30], [b'b'; 30]]);
        assert_eq!(std::iter::from_fn(|| slots.next()).count(), 2);
    }

    #[test]
    fn the_id_is_found_in_an_acknowledgement() {
        let body = br#"{"id":"msg_01234567890123456789abcdef","status":"open"}"#;
        let id = captured_id(&Reply { status: 202, body }).expect("an id");
        assert_eq!(&id, b"msg_01234567890123456789abcdef");
    }
}
