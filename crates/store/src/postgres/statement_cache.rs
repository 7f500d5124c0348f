//! Translates the shared SQL for PostgreSQL, each statement once.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use crate::exec::{BatchStatement, Param};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StatementShape {
    AsIs,
    /// An INSERT that returns the `seq` of its row.
    ReturningSeq,
    /// A statement of a batch.
    Batch,
}

#[derive(Default)]
pub struct StatementCache(RwLock<HashMap<(&'static str, StatementShape), Arc<str>>>);

impl StatementCache {
    pub fn get(&self, sql: &'static str, shape: StatementShape) -> Arc<str> {
        self.get_or_translate(sql, shape, || translate(sql, shape))
    }

    /// The positions of `InsertedSeq` parameters are the same for every use of a statement.
    pub fn get_batch(&self, step: &BatchStatement<'_>) -> Arc<str> {
        self.get_or_translate(step.sql, StatementShape::Batch, || translate_batch(step))
    }

    fn get_or_translate(
        &self,
        sql: &'static str,
        shape: StatementShape,
        translate: impl FnOnce() -> String,
    ) -> Arc<str> {
        let cached = self
            .0
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&(sql, shape))
            .cloned();
        cached.unwrap_or_else(|| {
            let mut cache = self.0.write().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(cache.entry((sql, shape)).or_insert_with(|| translate().into()))
        })
    }
}

/// `?1` becomes `$1`. Our statements use the question mark for nothing else.
fn translate(sql: &str, shape: StatementShape) -> String {
    let mut text = sql.replace('?', "$");
    match shape {
        StatementShape::AsIs | StatementShape::Batch => {}
        StatementShape::ReturningSeq => text.push_str(" RETURNING seq"),
    }
    text
}

/// `InsertedSeq` becomes the last `seq` this connection inserted into that table; the other parameters are renumbered.
fn translate_batch(step: &BatchStatement<'_>) -> String {
    let mut places = HashMap::new();
    let mut next = 0;
    for (place, param) in (1_usize..).zip(step.params) {
        let text = match param {
            Param::InsertedSeq(table) => format!("currval('{table}_seq_seq')"),
            _ => {
                next += 1;
                format!("${next}")
            }
        };
        places.insert(place, text);
    }
    let mut parts = step.sql.split('?');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
        let place = part[..digits].parse().ok().and_then(|place: usize| places.get(&place));
        text.push_str(place.map_or("?", String::as_str));
        text.push_str(&part[digits..]);
    }
    if step.into.is_some() {
        text + " RETURNING seq"
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_parameter_is_translated() {
        let texts = StatementCache::default();
        let update = "UPDATE t SET a = ?2, b = ?10 WHERE c = ?1 OR ?1 = ''";
        assert_eq!(
            &*texts.get(update, StatementShape::AsIs),
            "UPDATE t SET a = $2, b = $10 WHERE c = $1 OR $1 = ''"
        );
    }

    #[test]
    fn one_statement_has_two_shapes() {
        let texts = StatementCache::default();
        let insert = "INSERT INTO t (a) VALUES (?1)";
        assert_eq!(
            &*texts.get(insert, StatementShape::ReturningSeq),
            "INSERT INTO t (a) VALUES ($1) RETURNING seq"
        );
        assert_eq!(
            &*texts.get(insert, StatementShape::AsIs),
            "INSERT INTO t (a) VALUES ($1)"
        );
    }

    #[test]
    fn batch_statement_refers_to_rows_of_earlier_ones() {
        let step = |into| BatchStatement {
            sql: "INSERT INTO t (a, b, c) VALUES (?1, ?2, ?3)",
            params: &[Param::Int(1), Param::InsertedSeq("u"), Param::Int(3)],
            into,
        };
        let plain = "INSERT INTO t (a, b, c) VALUES ($1, currval('u_seq_seq'), $2)";
        assert_eq!(&*StatementCache::default().get_batch(&step(None)), plain);
        assert_eq!(
            *StatementCache::default().get_batch(&step(Some("t"))),
            format!("{plain} RETURNING seq")
        );
    }
}
