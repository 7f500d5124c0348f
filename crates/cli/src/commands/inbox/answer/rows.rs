//! Moving through numbered rows. At first none is chosen, so that no single key decides by accident.

use crossterm::event::{KeyCode, KeyEvent};

/// Where the key leads to, if it is one for moving.
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
