//! POST and GET /inbox/items/{id}/image: an image of the agent's text, fetched by the hub. A GET fetches only with the
//! signature that a POST gave, so no link, preview or reload makes the hub fetch.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{RawQuery, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use countersign_hub::Hub;
use countersign_hub::http::extract::MessagePath;
use countersign_hub::inbox::find::find;
use countersign_hub::problem::Problem;
use countersign_protocol::a2h::signature::hmac_v1;
use countersign_protocol::id::MessageId;

use super::head::MessageText;
use crate::layout::form::{FormFields, PostedForm};
use crate::layout::page::{PageError, PageRequest, see_other};
use crate::layout::signed_in_user::SignedInUser;

/// Time between the POST and the end of its address.
const ADDRESS_TTL: Duration = Duration::from_secs(60);

/// Headers of an image: shown as what the hub found it to be, and nothing in it can run or load more. The browser may keep
/// it as long as its address is valid, because the script reads it once for errors and once as an image.
const HEADERS: [(HeaderName, HeaderValue); 6] = [
    (header::CACHE_CONTROL, HeaderValue::from_static("private, max-age=60")),
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("default-src 'none'; sandbox; frame-ancestors 'none'"),
    ),
    (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
    (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        HeaderValue::from_static("same-origin"),
    ),
];

/// Gives the address of the image: as a redirect, or to scripts in a header.
pub async fn request(
    State(hub): State<Arc<Hub>>,
    path: Result<MessagePath, Problem>,
    request: PageRequest,
    posted: PostedForm,
) -> Result<Response, PageError> {
    let MessagePath(id) = path?;
    let key = posted.fields.text("image");
    find_address(&hub, &id, key).await?;
    let until = hub.store.clock().now().plus(ADDRESS_TTL).as_millis();
    let signature = sign(&posted.user, &id, key, until);
    let address = format!("/inbox/items/{id}/image?image={key}&until={until}&signature={signature}");
    let mut response = see_other(&address);
    if request.fragment {
        *response.status_mut() = StatusCode::CREATED;
    }
    Ok(response)
}

pub async fn show(
    State(hub): State<Arc<Hub>>,
    user: SignedInUser,
    path: Result<MessagePath, Problem>,
    RawQuery(query): RawQuery,
) -> Result<Response, PageError> {
    let MessagePath(id) = path?;
    let fields = FormFields::parse(query.unwrap_or_default().as_bytes());
    let key = fields.text("image");
    let until = fields.text("until").parse().unwrap_or_default();
    // Double HMAC verification: the time of the comparison says nothing about the signature.
    let blind = |signature: &str| hmac_v1(&user.session, signature);
    let is_ours = blind(fields.text("signature")) == blind(&sign(&user, &id, key, until));
    if !is_ours || until < hub.store.clock().now().as_millis() {
        let message =
            "this address of an image is no longer valid; open the item and press its button again".to_owned();
        return Err(Problem::NotAuthorized { message }.into());
    }
    let address = find_address(&hub, &id, key).await?;
    let image = hub.images.fetch(&user.name, &address).await?;
    let kind = [(header::CONTENT_TYPE, HeaderValue::from_static(image.mime))];
    Ok((HEADERS, kind, image.bytes).into_response())
}

/// Only an image of this message is fetched, so that the hub is no proxy for other addresses.
async fn find_address(hub: &Hub, id: &MessageId, key: &str) -> Result<String, PageError> {
    let item = find(hub, id).await?;
    let address = MessageText::image_address(&item.message.content, key);
    let message = || "the message has no such image".to_owned();
    Ok(address.ok_or_else(|| Problem::NotFound { message: message() })?)
}

/// The key is the session's hash, which the browser never sees.
fn sign(user: &SignedInUser, id: &MessageId, key: &str, until: i64) -> String {
    hmac_v1(&user.session, &format!("image\n{id}\n{key}\n{until}"))
}
