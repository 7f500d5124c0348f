/// Bound for a text passed between agents: a flow that feeds its output back could otherwise double it forever.
pub const MAX_TEXT_BYTES: usize = 4 * 1024 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the text is longer than {MAX_TEXT_BYTES} bytes; pass a shorter text to the next agent")]
pub struct TooLong;

pub(super) fn check_bytes(bytes: usize) -> Result<(), TooLong> {
    if bytes > MAX_TEXT_BYTES { Err(TooLong) } else { Ok(()) }
}
