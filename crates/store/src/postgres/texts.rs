//! The shared SQL in the words of this driver, each text turned once.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use crate::exec::{Param, Step};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shape {
    AsIs,
    /// An INSERT that is to tell the `seq` of its row.
    GivingSeq,
    /// One of several.
    Step,
}

#[derive(Default)]
pub struct Texts(RwLock<HashMap<(&'static str, Shape), Arc<str>>>);

impl Texts {
    pub fn get(&self, sql: &'static str, shape: Shape) -> Arc<str> {
        self.known(sql, shape, || turned(sql, shape))
    }

    /// Which of its parameters stand for rows of earlier steps is the same each time.
    pub fn of_step(&self, step: &Step<'_>) -> Arc<str> {
        self.known(step.sql, Shape::Step, || turned_step(step))
    }

    fn known(&self, sql: &'static str, shape: Shape, turn: impl FnOnce() -> String) -> Arc<str> {
        let known = self
            .0
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&(sql, shape))
            .cloned();
        known.unwrap_or_else(|| {
            let mut texts = self.0.write().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(texts.entry((sql, shape)).or_insert_with(|| turn().into()))
        })
    }
}

/// `?1` becomes `$1`. No text of ours has a question mark for anything else.
fn turned(sql: &str, shape: Shape) -> String {
    let mut text = sql.replace('?', "$");
    match shape {
        Shape::AsIs | Shape::Step => {}
        Shape::GivingSeq => text.push_str(" RETURNING seq"),
    }
    text
}

/// A row of an earlier step is the latest one that this connection inserted there; the other parameters close the gap.
fn turned_step(step: &Step<'_>) -> String {
    let mut places = HashMap::new();
    let mut next = 0;
    for (place, param) in (1_usize..).zip(step.params) {
        let text = match param {
            Param::SeqIn(table) => format!("currval('{table}_seq_seq')"),
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
    fn every_parameter_is_turned() {
        let texts = Texts::default();
        let update = "UPDATE t SET a = ?2, b = ?10 WHERE c = ?1 OR ?1 = ''";
        assert_eq!(
            &*texts.get(update, Shape::AsIs),
            "UPDATE t SET a = $2, b = $10 WHERE c = $1 OR $1 = ''"
        );
    }

    #[test]
    fn one_text_has_two_shapes() {
        let texts = Texts::default();
        let insert = "INSERT INTO t (a) VALUES (?1)";
        assert_eq!(
            &*texts.get(insert, Shape::GivingSeq),
            "INSERT INTO t (a) VALUES ($1) RETURNING seq"
        );
        assert_eq!(&*texts.get(insert, Shape::AsIs), "INSERT INTO t (a) VALUES ($1)");
    }

    #[test]
    fn a_step_names_rows_of_earlier_ones() {
        let step = |into| Step {
            sql: "INSERT INTO t (a, b, c) VALUES (?1, ?2, ?3)",
            params: &[Param::Int(1), Param::SeqIn("u"), Param::Int(3)],
            into,
        };
        let plain = "INSERT INTO t (a, b, c) VALUES ($1, currval('u_seq_seq'), $2)";
        assert_eq!(&*Texts::default().of_step(&step(None)), plain);
        assert_eq!(
            *Texts::default().of_step(&step(Some("t"))),
            format!("{plain} RETURNING seq")
        );
    }
}
