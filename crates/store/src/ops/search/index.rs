use countersign_protocol::time::Timestamp;

use super::tokens;
use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op, Row};
use crate::ops::rows;

/// The amount of text indexed in one transaction, which delays other writers. The last message may exceed it.
const MAX_BATCH_BYTES: usize = 2 * 1024 * 1024;
/// How many messages are fetched at a time: one may be large, and rows fetched beyond the limit are fetched again.
const FETCH_ROWS: i64 = 8;

/// Indexes up to `limit` messages that are not indexed yet, oldest first; fewer if they are large.
pub struct IndexBatch {
    pub limit: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Indexed {
    pub count: i64,
    /// Every message committed before this batch is indexed.
    pub is_all: bool,
}

/// The checkpoint of the index: everything up to `settled` is indexed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct IndexCheckpoint {
    settled: i64,
    /// `settled` can advance to here once every transaction below the horizon has ended. A transaction that will still
    /// commit a message with a lower seq was already running when `high` was read, because a submit writes before it
    /// gets its seq.
    high: i64,
    horizon: i64,
}

/// The ids of the oldest running transaction and of the next one to begin.
struct RunningTransactions {
    oldest: i64,
    next: i64,
}

impl IndexCheckpoint {
    /// Advances the checkpoint after everything visible up to `reached` was indexed. `newest_seq` was read before the
    /// running transactions, and those before the messages.
    fn advanced(self, reached: i64, newest_seq: i64, running_transactions: &RunningTransactions) -> Self {
        // After a restore on another server the stored horizon belongs to the old server and may never be reached here.
        let here = Self {
            horizon: self.horizon.min(running_transactions.next),
            ..self
        };
        here.advanced_here(reached, newest_seq, running_transactions)
    }

    fn advanced_here(self, reached: i64, newest_seq: i64, running_transactions: &RunningTransactions) -> Self {
        let settled = if running_transactions.oldest >= running_transactions.next {
            reached
        } else if running_transactions.oldest >= self.horizon {
            reached.min(self.high)
        } else {
            self.settled
        };
        let settled = settled.max(self.settled);
        let is_next_step = settled >= self.high && newest_seq > self.high;
        if is_next_step {
            Self {
                settled,
                high: newest_seq,
                horizon: running_transactions.next,
            }
        } else {
            Self { settled, ..self }
        }
    }
}

/// Locks the index against other indexers until the transaction ends. A purge takes this lock too: words that were read
/// before the purge and indexed after it would stay forever.
pub async fn lock_index<X: Exec>(x: &mut X) -> Result<(), StoreError> {
    x.exec("UPDATE search_mark SET settled = settled", &[]).await.map(drop)
}

async fn checkpoint<X: Exec>(x: &mut X) -> Result<IndexCheckpoint, StoreError> {
    const SELECT: &str = "SELECT settled, high, horizon FROM search_mark";
    let missing_row = || StoreError::Corrupt("the search index has no checkpoint row".to_owned());
    let mut row = x.row(SELECT, &[]).await?.ok_or_else(missing_row)?;
    Ok(IndexCheckpoint {
        settled: row.int(0)?,
        high: row.int(1)?,
        horizon: row.int(2)?,
    })
}

async fn newest_seq<X: Exec>(x: &mut X) -> Result<i64, StoreError> {
    let newest = x.row("SELECT seq FROM message ORDER BY seq DESC LIMIT 1", &[]).await?;
    newest.map_or(Ok(0), |mut row| row.int(0))
}

async fn running_transactions<X: Exec>(x: &mut X) -> Result<RunningTransactions, StoreError> {
    let missing_row = || StoreError::Corrupt("the database returned no transaction ids".to_owned());
    let mut row = x
        .row(X::DIALECT.running_transactions, &[])
        .await?
        .ok_or_else(missing_row)?;
    Ok(RunningTransactions {
        oldest: row.int(0)?,
        next: row.int(1)?,
    })
}

impl Op for IndexBatch {
    type Out = Indexed;
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<Indexed, StoreError> {
        const MOVE: &str = "UPDATE search_mark SET settled = ?1, high = ?2, horizon = ?3";
        // Without new messages nothing is written.
        if checkpoint(x).await?.settled >= newest_seq(x).await? {
            return Ok(Indexed { count: 0, is_all: true });
        }
        lock_index(x).await?;
        let before = checkpoint(x).await?;
        let newest_seq = newest_seq(x).await?;
        let running_transactions = running_transactions(x).await?;
        let (indexed, reached) = index_missing(x, before.settled, self.limit).await?;
        // Messages after `newest_seq` may have neighbours that are not committed yet.
        let after = before.advanced(
            if indexed.is_all {
                newest_seq
            } else {
                reached.min(newest_seq)
            },
            newest_seq,
            &running_transactions,
        );
        if after != before {
            x.exec(MOVE, &[after.settled.into(), after.high.into(), after.horizon.into()])
                .await?;
        }
        Ok(indexed)
    }
}

/// Indexes the missing messages after `checkpoint`. Returns how many, and the seq of the last one.
async fn index_missing<X: Exec>(x: &mut X, checkpoint: i64, limit: i64) -> Result<(Indexed, i64), StoreError> {
    let mut count = 0;
    let mut bytes = 0;
    let mut reached = checkpoint;
    while count < limit {
        let wanted = FETCH_ROWS.min(limit - count);
        let missing = x.rows(X::DIALECT.unindexed, &[reached.into(), wanted.into()]).await?;
        let is_last = i64::try_from(missing.len()).is_ok_and(|found| found < wanted);
        for row in missing {
            if bytes >= MAX_BATCH_BYTES {
                return Ok((Indexed { count, is_all: false }, reached));
            }
            let indexed_row = index_row(x, row).await?;
            (count, bytes, reached) = (count + 1, bytes + indexed_row.bytes, indexed_row.seq);
        }
        if is_last {
            return Ok((Indexed { count, is_all: true }, reached));
        }
    }
    Ok((Indexed { count, is_all: false }, reached))
}

struct IndexedRow {
    seq: i64,
    /// The size of the indexed text.
    bytes: usize,
}

async fn index_row<X: Exec>(x: &mut X, mut row: Row) -> Result<IndexedRow, StoreError> {
    let seq = row.int(0)?;
    let bytes = row.peek(1).or_else(|| row.peek(2)).unwrap_or_default().len();
    // An unreadable message has no words, and must not block the messages after it.
    let words = words_of(&mut row).unwrap_or_default();
    x.exec(X::DIALECT.index_message, &[seq.into(), (&words).into()]).await?;
    Ok(IndexedRow { seq, bytes })
}

fn words_of(row: &mut Row) -> Result<String, StoreError> {
    let content = rows::content(row.opt_text(1)?, &row.text(2)?)?;
    Ok(tokens::of_message(&content))
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: IndexCheckpoint = IndexCheckpoint {
        settled: 10,
        high: 20,
        horizon: 100,
    };

    #[test]
    fn single_writer_settles_everything_it_saw() {
        let alone = RunningTransactions { oldest: 1, next: 0 };
        let nothing = IndexCheckpoint {
            settled: 0,
            high: 0,
            horizon: 0,
        };
        assert_eq!(
            nothing.advanced(7, 30, &alone),
            IndexCheckpoint {
                settled: 7,
                high: 30,
                horizon: 0
            }
        );
        assert_eq!(nothing.advanced(30, 30, &alone).settled, 30);
    }

    #[test]
    fn nothing_is_settled_while_an_older_transaction_runs() {
        let busy = RunningTransactions { oldest: 99, next: 130 };
        assert_eq!(START.advanced(25, 25, &busy), START);
    }

    #[test]
    fn ended_transactions_settle_up_to_the_earlier_high_mark() {
        let over = RunningTransactions { oldest: 100, next: 130 };
        assert_eq!(
            START.advanced(25, 25, &over),
            IndexCheckpoint {
                settled: 20,
                high: 25,
                horizon: 130
            }
        );
        assert_eq!(
            START.advanced(15, 25, &over),
            IndexCheckpoint { settled: 15, ..START },
            "but not beyond what was entered"
        );
    }

    #[test]
    fn horizon_of_another_server_is_not_waited_for() {
        let busy = RunningTransactions { oldest: 40, next: 50 };
        let later = RunningTransactions { oldest: 50, next: 60 };
        let brought = START.advanced(25, 25, &busy);
        assert_eq!(
            brought,
            IndexCheckpoint { horizon: 50, ..START },
            "but whoever is under way here is"
        );
        assert_eq!(
            brought.advanced(25, 25, &later),
            IndexCheckpoint {
                settled: 20,
                high: 25,
                horizon: 60
            }
        );
    }

    #[test]
    fn checkpoint_never_moves_backwards() {
        let over = RunningTransactions { oldest: 100, next: 130 };
        assert_eq!(START.advanced(5, 25, &over), START);
        let caught_up = IndexCheckpoint { settled: 20, ..START };
        assert_eq!(
            caught_up.advanced(20, 20, &over),
            caught_up,
            "and stays where it is when nothing came"
        );
    }
}
