//! Reasons to refuse a push.

/// Why a push was refused. Each text says what to check.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The request does not come from a hub.
    #[error("the A2H-Signature or MA2H-Signature header is missing: this endpoint accepts only pushes from a hub")]
    NoSignature,
    /// The signature header cannot be read.
    #[error("{0}")]
    BadHeader(String),
    /// The body cannot be read.
    #[error("the body is not a response: {0}")]
    BadBody(String),
    /// The time of the signature is too far from ours.
    #[error("signed {} seconds {}: check both clocks; if they agree, this is an old push sent again",
        .seconds.unsigned_abs(), if *.seconds < 0 { "ago" } else { "in the future" })]
    OutsideWindow {
        /// How far the hub's clock is ahead of ours; negative when it is behind or the push is old.
        seconds: i64,
    },
    /// The key, the callback URL or the body differs.
    #[error(
        "the signature does not match: check the key (as the hub printed it, with its prefix), that the callback URL \
         is spelled exactly as in the ask, and that no proxy changes the body"
    )]
    WrongSignature,
    /// The same push came before.
    #[error("this push was already received: its jti was seen before")]
    ReplayedJti,
    /// See [`Verifier::expecting`](crate::Verifier::expecting).
    #[error("this is the answer to a different message than the expected one")]
    OtherMessage,
    /// See [`Verifier::taking_unsigned_answers`](crate::Verifier::taking_unsigned_answers).
    #[error("the signature of this version does not cover the answer: ask with 0.3 or later, or pull the answer")]
    AnswerNotSigned,
    /// The protocol version is unknown or has no push signature.
    #[error("{0}")]
    UnsupportedVersion(String),
}

impl Refusal {
    /// A stable error code for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoSignature => "no_signature",
            Self::BadHeader(_) => "bad_header",
            Self::BadBody(_) => "bad_body",
            Self::OutsideWindow { .. } => "outside_window",
            Self::WrongSignature => "wrong_signature",
            Self::ReplayedJti => "replayed_jti",
            Self::OtherMessage => "other_message",
            Self::AnswerNotSigned => "answer_not_signed",
            Self::UnsupportedVersion(_) => "unsupported_version",
        }
    }

    /// 400 for unreadable pushes, 401 for unauthentic ones.
    pub fn status(&self) -> u16 {
        match self {
            Self::BadHeader(_) | Self::BadBody(_) | Self::UnsupportedVersion(_) => 400,
            Self::NoSignature
            | Self::OutsideWindow { .. }
            | Self::WrongSignature
            | Self::ReplayedJti
            | Self::OtherMessage
            | Self::AnswerNotSigned => 401,
        }
    }
}
