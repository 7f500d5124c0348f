//! One push attempt: load, check the target, sign, send.

use std::sync::Arc;
use std::time::Duration;

use countersign_config::PushSettings;
use countersign_core::delivery::Attempt;
use countersign_protocol::a2h::AuthScheme;
use countersign_protocol::id::MessageId;
use countersign_store::model::PushContext;
use countersign_store::ops::deliver::LoadPushContext;
use countersign_store::{Store, StoreError};
use reqwest::header::CONTENT_TYPE;
use reqwest::{Client, Request, RequestBuilder, Response};
use url::Url;

use super::guard;
use super::http_client;
use super::resolver::{DnsLookup, GuardedResolver};
use super::respond::{self, Signer, named_secret};

/// A response body up to this size is drained, so that its connection can be reused.
const MAX_DRAINED_BYTES: usize = 16 * 1024;
const DRAIN_TIMEOUT: Duration = Duration::from_millis(500);

pub struct PushClient {
    store: Arc<Store>,
    client: Client,
    signer: Signer,
    allow_loopback: bool,
}

impl PushClient {
    pub fn new(store: Arc<Store>, settings: &PushSettings, lookup: Arc<dyn DnsLookup>) -> reqwest::Result<Self> {
        let resolver = Arc::new(GuardedResolver::new(lookup, settings.allow_loopback));
        let client = http_client::build(settings, &resolver)?;
        let signer = Signer::new(Arc::clone(&store));
        Ok(Self {
            store,
            client,
            signer,
            allow_loopback: settings.allow_loopback,
        })
    }

    /// The client that resolves names under the guard. It follows no redirect and sends no cookie.
    pub fn guarded_client(&self) -> Client {
        self.client.clone()
    }

    pub async fn attempt(&self, message_id: &MessageId) -> Attempt {
        let request = match self.request(message_id).await {
            Ok(request) => request,
            Err(attempt) => return attempt,
        };
        match self.client.execute(request).await {
            Ok(response) => {
                let status = response.status().as_u16();
                drain(response).await;
                Attempt::from_status(status)
            }
            Err(error) => http_client::attempt_from_error(&error),
        }
    }

    /// Builds the signed request. The error is the outcome of an attempt that sends none.
    async fn request(&self, message_id: &MessageId) -> Result<Request, Attempt> {
        let loaded = self
            .store
            .run(LoadPushContext(message_id.clone()))
            .await
            .map_err(|error| failed_by_store(message_id, &error))?;
        let push_context = loaded.ok_or_else(|| refused("the message or its agent no longer exists"))?;
        // Checked again, because an approval may have been withdrawn after the submit.
        if !push_context.host_approved {
            return Err(refused("the callback host is no longer approved"));
        }
        let url = Url::parse(&push_context.callback.url).map_err(|_| refused("the callback is not a URL"))?;
        let host = guard::check_url(&url, self.allow_loopback).map_err(|error| refused(&error.to_string()))?;
        // The approval is for the stored host; a credential must not go to another one.
        if host != push_context.callback.host {
            return Err(refused("the callback URL and its approved host differ"));
        }
        let composed = respond::compose(&push_context.view, &push_context.resolution)
            .map_err(|error| failed_by_store(message_id, &error))?;
        let headers = self
            .signer
            .headers(&push_context, &composed, self.store.clock().now())
            .await?;
        let mut post = self.client.post(url).header(CONTENT_TYPE, "application/json");
        for (name, value) in headers {
            post = post.header(name, value);
        }
        if let Some(auth) = &push_context.callback.auth {
            post = with_credential(post, auth.scheme, &push_context)?;
        }
        let request = post.body(composed.text).build();
        request.map_err(|error| http_client::attempt_from_error(&error))
    }
}

fn with_credential(
    post: RequestBuilder,
    scheme: AuthScheme,
    push_context: &PushContext,
) -> Result<RequestBuilder, Attempt> {
    Ok(match scheme {
        AuthScheme::Hmac => post,
        AuthScheme::Bearer => post.bearer_auth(named_secret(push_context)?),
        AuthScheme::Apikey => post.header("x-api-key", named_secret(push_context)?),
    })
}

/// Drains the rest of a response so that its connection can be reused. For a longer body, dropping the response closes
/// the connection.
async fn drain(mut response: Response) {
    let mut left = MAX_DRAINED_BYTES;
    let reading = async {
        while let Ok(Some(chunk)) = response.chunk().await {
            left = left.saturating_sub(chunk.len());
            if left == 0 {
                break;
            }
        }
    };
    // The outcome is the status, whether or not the body was drained.
    drop(tokio::time::timeout(DRAIN_TIMEOUT, reading).await);
}

pub fn refused(reason: &str) -> Attempt {
    Attempt::Refused {
        reason: reason.to_owned(),
    }
}

/// A failure of the store. It counts as an attempt, so that it is not retried forever. A damaged message is
/// refused: the hub signs only the answer that it recorded.
pub fn failed_by_store(message_id: &MessageId, error: &StoreError) -> Attempt {
    if matches!(error, StoreError::Unreadable(_) | StoreError::AuditBroken { .. }) {
        return refused(&format!("not sent: {error}"));
    }
    tracing::warn!(%message_id, %error, "loading a message for a push failed");
    Attempt::Failed {
        reason: "the hub could not prepare the push".to_owned(),
    }
}
