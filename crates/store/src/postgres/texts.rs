//! The shared SQL in the words of this driver, each text turned once.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shape {
    AsIs,
    /// An INSERT that is to tell the `seq` of its row.
    GivingSeq,
}

#[derive(Default)]
pub struct Texts(RwLock<HashMap<(&'static str, Shape), Arc<str>>>);

impl Texts {
    pub fn get(&self, sql: &'static str, shape: Shape) -> Arc<str> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner).get(&(sql, shape)).cloned();
        known.unwrap_or_else(|| {
            let mut texts = self.0.write().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(texts.entry((sql, shape)).or_insert_with(|| turned(sql, shape).into()))
        })
    }
}

/// `?1` becomes `$1`. No text of ours has a question mark for anything else.
fn turned(sql: &str, shape: Shape) -> String {
    let mut text = sql.replace('?', "$");
    match shape {
        Shape::AsIs => {}
        Shape::GivingSeq => text.push_str(" RETURNING seq"),
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_parameter_is_turned() {
        let texts = Texts::default();
        let update = "UPDATE t SET a = ?2, b = ?10 WHERE c = ?1 OR ?1 = ''";
        assert_eq!(&*texts.get(update, Shape::AsIs), "UPDATE t SET a = $2, b = $10 WHERE c = $1 OR $1 = ''");
    }

    #[test]
    fn one_text_has_two_shapes() {
        let texts = Texts::default();
        let insert = "INSERT INTO t (a) VALUES (?1)";
        assert_eq!(&*texts.get(insert, Shape::GivingSeq), "INSERT INTO t (a) VALUES ($1) RETURNING seq");
        assert_eq!(&*texts.get(insert, Shape::AsIs), "INSERT INTO t (a) VALUES ($1)");
    }
}
