/// Of one text that goes from agent to agent: a flow that feeds its own output back could otherwise double it for ever.
pub const MAX_TEXT_BYTES: usize = 4 * 1024 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the text is longer than {MAX_TEXT_BYTES} bytes; pass a shorter text to the next agent")]
pub struct TooLong;

pub(super) fn check_bytes(bytes: usize) -> Result<(), TooLong> {
    if bytes > MAX_TEXT_BYTES { Err(TooLong) } else { Ok(()) }
}
