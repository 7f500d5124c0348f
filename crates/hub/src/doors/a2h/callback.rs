//! Where an envelope wants its answer brought, with the checks that only the hub can make.

use countersign_core::message::{Callback, CallbackAuth};
use countersign_protocol::a2h::{CallbackMode, Envelope, PushSigning};

use crate::config::LegacyPush;
use crate::delivery::callback_host;
use crate::problem::Problem;

/// The callback a push asks for; nothing for pull.
pub fn wanted(envelope: &Envelope, legacy: LegacyPush) -> Result<Option<Callback>, Problem> {
    let (asked, place) = match (&envelope.request, &envelope.action) {
        (Some(request), _) => (request.callback.as_ref(), "request"),
        (None, Some(action)) => (action.callback.as_ref(), "action"),
        (None, None) => (None, ""),
    };
    let Some(asked) = asked.filter(|callback| callback.mode == CallbackMode::Push) else {
        return Ok(None);
    };
    check_signing(envelope, legacy)?;
    let url = asked.url.clone().unwrap_or_default();
    let host = callback_host(&url).map_err(|reason| Problem::invalid(format!("{place}.callback.url"), reason))?;
    let auth = asked.auth.as_ref();
    let auth = auth.map(|auth| CallbackAuth {
        scheme: auth.scheme,
        reference: auth.reference.clone(),
    });
    Ok(Some(Callback { url, host, auth }))
}

fn check_signing(envelope: &Envelope, legacy: LegacyPush) -> Result<(), Problem> {
    let version = envelope.version;
    let refuse = |message: String| Err(Problem::VersionNotSupported { message });
    match (version.push_signing(), legacy) {
        (Some(PushSigning::Payload), _) => Ok(()),
        (Some(PushSigning::Context), LegacyPush::Negotiate) => {
            tracing::warn!(agent = envelope.agent.id, %version, "a push was asked for whose signature does not cover the answer");
            Ok(())
        }
        (Some(PushSigning::Context), LegacyPush::Reject) => refuse(format!(
            "this hub pushes only with signatures that cover the answer; use 0.3 instead of {version}, or pull"
        )),
        (None, _) => refuse(format!("{version} cannot be pushed safely; use 0.3 or later, or pull")),
    }
}
