//! What templates do with text that comes from agents: hidden characters are spelled out, then HTML is escaped as ever.

use std::fmt::Display;

use askama::Values;
use countersign_protocol::visible::{escape, escape_lines};

/// One line.
#[askama::filter_fn]
pub fn visible(text: impl Display, _: &dyn Values) -> askama::Result<String> {
    Ok(escape(&text.to_string()))
}

/// Several lines.
#[askama::filter_fn]
pub fn visible_lines(text: impl Display, _: &dyn Values) -> askama::Result<String> {
    Ok(escape_lines(&text.to_string()))
}
