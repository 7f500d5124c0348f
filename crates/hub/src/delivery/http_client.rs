//! The HTTP client shared by all pushes, and the mapping of its errors.

use std::error::Error;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use countersign_config::PushSettings;
use countersign_core::delivery::Attempt;
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder};

use super::guard::TargetRefused;
use super::resolver::{GuardedResolver, Unresolved};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);
const MAX_REASON_BYTES: usize = 200;

pub fn build(settings: &PushSettings, resolver: &Arc<GuardedResolver>) -> reqwest::Result<Client> {
    let with_system_roots = builder(settings, resolver).build();
    with_system_roots.or_else(|error| {
        // Starts without certificate authorities, because a hub whose agents only pull does not need them.
        tracing::warn!(
            ?error,
            "no certificate authorities found on this system: pushes over https will fail"
        );
        builder(settings, resolver).tls_certs_only([]).build()
    })
}

fn builder(settings: &PushSettings, resolver: &Arc<GuardedResolver>) -> ClientBuilder {
    Client::builder()
        .user_agent(concat!("countersign/", env!("CARGO_PKG_VERSION")))
        .redirect(Policy::none())
        // A proxy would resolve names itself, bypassing the guard.
        .no_proxy()
        .referer(false)
        .retry(reqwest::retry::never())
        .dns_resolver(Arc::clone(resolver))
        .http1_only()
        .connect_timeout(CONNECT_TIMEOUT.min(settings.attempt_timeout))
        .timeout(settings.attempt_timeout)
        .pool_max_idle_per_host(settings.per_host_concurrency)
        .pool_idle_timeout(IDLE_TIMEOUT)
}

/// The outcome of an attempt without a response. The error's own text is not used, because it contains the URL.
pub fn attempt_from_error(error: &reqwest::Error) -> Attempt {
    if let Some(refused) = cause::<TargetRefused>(error) {
        return Attempt::Refused {
            reason: refused.to_string(),
        };
    }
    if error.is_builder() {
        let reason = "the URL or the named secret contains characters that HTTP does not allow there".to_owned();
        return Attempt::Refused { reason };
    }
    let mut reason = reason(error);
    reason.truncate(reason.floor_char_boundary(MAX_REASON_BYTES));
    Attempt::Failed { reason }
}

/// The cause of a failed request in a few words, without its URL.
pub fn reason(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return "no answer in time".to_owned();
    }
    if let Some(unresolved) = cause::<Unresolved>(error) {
        return unresolved.to_string();
    }
    if let Some(tls) = cause::<rustls::Error>(error) {
        return format!("TLS: {tls}");
    }
    match cause::<io::Error>(error) {
        Some(io) => io.kind().to_string(),
        None if error.is_connect() => "connecting failed".to_owned(),
        None => "the connection closed before a response".to_owned(),
    }
}

/// Finds an error of this type in the chain of causes. `io::Error` does not expose its inner error as `source`, so it
/// is unwrapped here.
pub fn cause<'e, T: Error + 'static>(error: &'e (dyn Error + 'static)) -> Option<&'e T> {
    let mut next = Some(error);
    while let Some(current) = next {
        let wrapped = current.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        if let Some(inner) = wrapped
            && let Some(found) = cause::<T>(inner)
        {
            return Some(found);
        }
        if let Some(found) = current.downcast_ref::<T>() {
            return Some(found);
        }
        next = current.source();
    }
    None
}
