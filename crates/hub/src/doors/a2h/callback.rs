//! The callback of an envelope, with the checks that need hub configuration.

use countersign_core::message::{Callback, CallbackCredential};
use countersign_protocol::a2h::{CallbackMode, Envelope, PushSigning};

use crate::config::LegacyPush;
use crate::delivery::callback_host;
use crate::problem::Problem;

/// The callback of a push request; `None` for pull.
pub fn requested_callback(envelope: &Envelope, legacy: LegacyPush) -> Result<Option<Callback>, Problem> {
    let (requested, section) = match (&envelope.request, &envelope.action) {
        (Some(request), _) => (request.callback.as_ref(), "request"),
        (None, Some(action)) => (action.callback.as_ref(), "action"),
        (None, None) => (None, ""),
    };
    let Some(requested) = requested.filter(|callback| callback.mode == CallbackMode::Push) else {
        return Ok(None);
    };
    check_signing(envelope, legacy)?;
    let url = requested.url.clone().unwrap_or_default();
    let host = callback_host(&url).map_err(|reason| Problem::invalid(format!("{section}.callback.url"), reason))?;
    let auth = requested.auth.as_ref();
    let auth = auth.map(|auth| CallbackCredential {
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
            tracing::warn!(agent = envelope.agent.id, %version, "accepted a push request with a legacy signature that does not cover the answer");
            Ok(())
        }
        (Some(PushSigning::Context), LegacyPush::Reject) => refuse(format!(
            "this hub pushes only with signatures that cover the answer; use 0.3 instead of {version}, or pull"
        )),
        (None, _) => refuse(format!(
            "{version} has no safe push signature; use 0.3 or later, or pull"
        )),
    }
}
