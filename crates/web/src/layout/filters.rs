//! Template filters for text from agents: they escape hidden characters; askama escapes the HTML afterwards.

use std::fmt::Display;

use askama::Values;
use countersign_protocol::escape::{escape, escape_lines};

/// For text on one line.
#[askama::filter_fn]
pub fn visible(text: impl Display, _: &dyn Values) -> askama::Result<String> {
    Ok(escape(&text.to_string()))
}

/// For text on several lines.
#[askama::filter_fn]
pub fn visible_lines(text: impl Display, _: &dyn Values) -> askama::Result<String> {
    Ok(escape_lines(&text.to_string()))
}
