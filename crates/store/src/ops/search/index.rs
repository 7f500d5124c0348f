use countersign_protocol::time::Timestamp;

use super::words;
use crate::error::StoreError;
use crate::exec::{Exec, Mode, Op, Row};
use crate::ops::rows;

/// How much text one turn reads words from, and so how long everybody else waits for it. The last message may go beyond.
const MOST_BYTES: usize = 2 * 1024 * 1024;
/// So many messages are fetched at a time: one may be large, and what is fetched in vain is fetched again.
const STRETCH: i64 = 8;

/// Puts up to `limit` messages that are not in the index into it, the oldest first; fewer where they are large.
pub struct IndexSome {
    pub limit: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Indexed {
    pub count: i64,
    /// Nothing that was committed before is left.
    pub is_all: bool,
}

/// Up to where everything is in the index, and what the next step waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Mark {
    settled: i64,
    /// All up to here will be settled when every transaction below the horizon has ended. One that is still to commit a
    /// message with a lower seq was under way when `high` was seen, because a submit writes before it takes its seq.
    high: i64,
    horizon: i64,
}

/// The transactions on the database: which is the oldest still under way, and which will be the next to begin.
struct Traffic {
    oldest: i64,
    next: i64,
}

impl Mark {
    /// Everything that could be seen up to `reached` is in the index. `top` was seen before the traffic, and the traffic
    /// before the messages.
    fn moved(self, reached: i64, top: i64, traffic: &Traffic) -> Self {
        // In a database that was brought here from another server, the horizon is that one's, and may never be reached here.
        let here = Self {
            horizon: self.horizon.min(traffic.next),
            ..self
        };
        here.moved_here(reached, top, traffic)
    }

    fn moved_here(self, reached: i64, top: i64, traffic: &Traffic) -> Self {
        let settled = if traffic.oldest >= traffic.next {
            reached
        } else if traffic.oldest >= self.horizon {
            reached.min(self.high)
        } else {
            self.settled
        };
        let settled = settled.max(self.settled);
        let is_next_step = settled >= self.high && top > self.high;
        if is_next_step {
            Self {
                settled,
                high: top,
                horizon: traffic.next,
            }
        } else {
            Self { settled, ..self }
        }
    }
}

/// Nobody else indexes until the transaction ends. Whoever empties messages holds it too: words that were read before and
/// entered after would stay for ever.
pub async fn hold_mark<X: Exec>(x: &mut X) -> Result<(), StoreError> {
    x.exec("UPDATE search_mark SET settled = settled", &[]).await.map(drop)
}

async fn mark<X: Exec>(x: &mut X) -> Result<Mark, StoreError> {
    const SELECT: &str = "SELECT settled, high, horizon FROM search_mark";
    let lost = || StoreError::Corrupt("the search has no mark".to_owned());
    let mut row = x.row(SELECT, &[]).await?.ok_or_else(lost)?;
    Ok(Mark {
        settled: row.int(0)?,
        high: row.int(1)?,
        horizon: row.int(2)?,
    })
}

async fn top<X: Exec>(x: &mut X) -> Result<i64, StoreError> {
    let newest = x.row("SELECT seq FROM message ORDER BY seq DESC LIMIT 1", &[]).await?;
    newest.map_or(Ok(0), |mut row| row.int(0))
}

async fn traffic<X: Exec>(x: &mut X) -> Result<Traffic, StoreError> {
    let lost = || StoreError::Corrupt("the database tells no transactions".to_owned());
    let mut row = x.row(X::DIALECT.traffic, &[]).await?.ok_or_else(lost)?;
    Ok(Traffic {
        oldest: row.int(0)?,
        next: row.int(1)?,
    })
}

impl Op for IndexSome {
    type Out = Indexed;
    const MODE: Mode = Mode::Write;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<Indexed, StoreError> {
        const MOVE: &str = "UPDATE search_mark SET settled = ?1, high = ?2, horizon = ?3";
        // Where nothing came, nothing is written.
        if mark(x).await?.settled >= top(x).await? {
            return Ok(Indexed { count: 0, is_all: true });
        }
        hold_mark(x).await?;
        let before = mark(x).await?;
        let top = top(x).await?;
        let traffic = traffic(x).await?;
        let (indexed, reached) = enter_missing(x, before.settled, self.limit).await?;
        // What came after the top was seen may have neighbours that are still to be committed.
        let after = before.moved(if indexed.is_all { top } else { reached.min(top) }, top, &traffic);
        if after != before {
            x.exec(MOVE, &[after.settled.into(), after.high.into(), after.horizon.into()])
                .await?;
        }
        Ok(indexed)
    }
}

/// From a mark on. Says how much, and the seq of the last one.
async fn enter_missing<X: Exec>(x: &mut X, mark: i64, limit: i64) -> Result<(Indexed, i64), StoreError> {
    let mut count = 0;
    let mut bytes = 0;
    let mut reached = mark;
    while count < limit {
        let wanted = STRETCH.min(limit - count);
        let missing = x
            .rows(X::DIALECT.missing_in_search, &[reached.into(), wanted.into()])
            .await?;
        let is_last = i64::try_from(missing.len()).is_ok_and(|found| found < wanted);
        for row in missing {
            if bytes >= MOST_BYTES {
                return Ok((Indexed { count, is_all: false }, reached));
            }
            let entered = enter(x, row).await?;
            (count, bytes, reached) = (count + 1, bytes + entered.bytes, entered.seq);
        }
        if is_last {
            return Ok((Indexed { count, is_all: true }, reached));
        }
    }
    Ok((Indexed { count, is_all: false }, reached))
}

struct Entered {
    seq: i64,
    /// Of the text it was read from.
    bytes: usize,
}

async fn enter<X: Exec>(x: &mut X, mut row: Row) -> Result<Entered, StoreError> {
    let seq = row.int(0)?;
    let content = row.opt_text(1)?;
    let wire = row.text(2)?;
    let bytes = content.as_ref().unwrap_or(&wire).len();
    // What cannot be read has no words, and must not keep everything after it out.
    let words = rows::content(content, &wire).map_or_else(|_| String::new(), |content| words::of_message(&content));
    x.exec(X::DIALECT.enter_into_search, &[seq.into(), (&words).into()])
        .await?;
    Ok(Entered { seq, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Mark = Mark {
        settled: 10,
        high: 20,
        horizon: 100,
    };

    #[test]
    fn where_nobody_else_writes_all_that_was_seen_is_settled() {
        let alone = Traffic { oldest: 1, next: 0 };
        let nothing = Mark {
            settled: 0,
            high: 0,
            horizon: 0,
        };
        assert_eq!(
            nothing.moved(7, 30, &alone),
            Mark {
                settled: 7,
                high: 30,
                horizon: 0
            }
        );
        assert_eq!(nothing.moved(30, 30, &alone).settled, 30);
    }

    #[test]
    fn nothing_is_settled_while_somebody_may_come_late() {
        let busy = Traffic { oldest: 99, next: 130 };
        assert_eq!(START.moved(25, 25, &busy), START);
    }

    #[test]
    fn when_they_have_ended_it_is_settled_as_far_as_was_seen_then() {
        let over = Traffic { oldest: 100, next: 130 };
        assert_eq!(
            START.moved(25, 25, &over),
            Mark {
                settled: 20,
                high: 25,
                horizon: 130
            }
        );
        assert_eq!(
            START.moved(15, 25, &over),
            Mark { settled: 15, ..START },
            "but not beyond what was entered"
        );
    }

    #[test]
    fn a_horizon_of_another_server_is_not_waited_for() {
        let busy = Traffic { oldest: 40, next: 50 };
        let later = Traffic { oldest: 50, next: 60 };
        let brought = START.moved(25, 25, &busy);
        assert_eq!(
            brought,
            Mark { horizon: 50, ..START },
            "but whoever is under way here is"
        );
        assert_eq!(
            brought.moved(25, 25, &later),
            Mark {
                settled: 20,
                high: 25,
                horizon: 60
            }
        );
    }

    #[test]
    fn the_mark_never_moves_backwards() {
        let over = Traffic { oldest: 100, next: 130 };
        assert_eq!(START.moved(5, 25, &over), START);
        let caught_up = Mark { settled: 20, ..START };
        assert_eq!(
            caught_up.moved(20, 20, &over),
            caught_up,
            "and stays where it is when nothing came"
        );
    }
}
