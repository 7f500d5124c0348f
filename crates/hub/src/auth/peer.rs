//! Where a connection comes from.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr};

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{Extensions, Request};

/// The other end of the connection, whatever headers claim: they are the client's to write. Behind a proxy it is the
/// proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer(pub IpAddr);

impl Peer {
    /// Only signing in wants to know; all other requests are spared the cost.
    pub fn mark<B>(self, mut request: Request<B>) -> Request<B> {
        if request.uri().path().starts_with("/signin") {
            request.extensions_mut().insert(self);
        }
        request
    }

    /// A request without a connection, as tests make them, comes from nowhere.
    fn of(extensions: &Extensions) -> Self {
        extensions.get().copied().unwrap_or(Self(IpAddr::V4(Ipv4Addr::UNSPECIFIED)))
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Peer {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self::of(&parts.extensions))
    }
}
