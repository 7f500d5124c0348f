//! Messages that ended, as figures count them.

use std::collections::HashMap;

use countersign_core::Resolution;
use countersign_core::message::{Outcome, Status};
use countersign_core::vocabulary::{Ending, Tone};
use countersign_protocol::time::Timestamp;

use super::{list, rows};
use crate::error::StoreError;
use crate::exec::{Exec, Row};

/// Messages whose text is read at once.
const READ_CHUNK: usize = 100;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecisionFact {
    pub agent_id: String,
    pub received_at: Timestamp,
    pub resolved_at: Timestamp,
    pub ending: Ending,
    /// A person or an agent decided; the time did not run out, and the asker did not withdraw it.
    pub is_decided: bool,
    /// It was decided, but not answered.
    pub is_skipped: bool,
    /// The declared default became the answer.
    pub is_default: bool,
}

/// The columns that `decisions` reads, of a message `m` and its resolution `r`.
macro_rules! decision_columns {
    () => {
        "m.seq, m.agent_id, m.received_at, m.resolved_at, m.status, r.body"
    };
}
pub(super) use decision_columns;

/// The decisions in rows of `decision_columns`. Rows of open messages and notices are left out.
pub async fn decisions<X: Exec>(x: &mut X, rows: Vec<Row>) -> Result<Vec<DecisionFact>, StoreError> {
    let read = rows::readable(rows, "message", decision)?;
    let mut read: Vec<_> = read.into_iter().flatten().collect();
    let unsure: Vec<i64> = read.iter().filter_map(|(_, unsure)| *unsure).collect();
    let endings = endings(x, &unsure).await?;
    for (fact, unsure) in &mut read {
        if let Some(seq) = unsure {
            fact.ending = endings.get(seq).copied().unwrap_or(Ending::of(Outcome::Answered, None));
        }
    }
    Ok(read.into_iter().map(|(fact, _)| fact).collect())
}

/// The decision, and its seq if the value could be a yes or a no: only the text of a message tells a confirm from
/// another question, and whether it is sensitive. An answer that retention has removed is neither a yes nor a no.
fn decision(row: &mut Row) -> Result<Option<(DecisionFact, Option<i64>)>, StoreError> {
    let Status::Resolved(outcome) = rows::status(row.peek(4).unwrap_or_default())? else {
        return Ok(None);
    };
    let resolution = row
        .peek(5)
        .and_then(|body| serde_json::from_str::<Resolution>(body).ok());
    let value = resolution
        .as_ref()
        .and_then(|resolution| resolution.value.as_ref()?.as_str());
    let fact = DecisionFact {
        agent_id: row.text(1)?,
        received_at: row.instant(2)?,
        resolved_at: row.instant(3)?,
        ending: Ending::of(outcome, value),
        is_skipped: outcome == Outcome::Declined,
        is_decided: !matches!(outcome, Outcome::Expired | Outcome::Cancelled),
        is_default: resolution.is_some_and(|resolution| resolution.defaulted),
    };
    let is_unsure = outcome == Outcome::Answered && fact.ending.tone != Tone::Plain;
    Ok(Some((fact, is_unsure.then_some(row.int(0)?))))
}

async fn endings<X: Exec>(x: &mut X, seqs: &[i64]) -> Result<HashMap<i64, Ending>, StoreError> {
    let mut endings = HashMap::with_capacity(seqs.len());
    for chunk in seqs.chunks(READ_CHUNK) {
        let items = list::items_by_seq(x, chunk.iter().copied()).await?;
        let ended = items.into_iter().filter_map(|(seq, entry)| {
            let item = entry.ok()?;
            Some((seq, Ending::of_message(&item.message)?))
        });
        endings.extend(ended);
    }
    Ok(endings)
}
