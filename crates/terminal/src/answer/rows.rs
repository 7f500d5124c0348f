//! Moves through numbered rows. No row is selected at first, so that a single key never decides by accident.

use crossterm::event::{KeyCode, KeyEvent};

/// The row that a movement key leads to.
pub fn moved(key: KeyEvent, cursor: Option<usize>, count: usize) -> Option<usize> {
    let last = count.checked_sub(1)?;
    match key.code {
        KeyCode::Down | KeyCode::Char('j') => Some(cursor.map_or(0, |at| (at + 1).min(last))),
        KeyCode::Up | KeyCode::Char('k') => Some(cursor.map_or(last, |at| at.saturating_sub(1))),
        _ => None,
    }
}

/// The row that a digit stands for.
pub fn numbered(key: KeyEvent, count: usize) -> Option<usize> {
    let KeyCode::Char(digit @ '1'..='9') = key.code else {
        return None;
    };
    let index = digit as usize - '1' as usize;
    (index < count).then_some(index)
}
