//! A response body that records the answer as fetched when the connection reads it: not for a client that has
//! disconnected, and not for a HEAD request.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use countersign_protocol::id::MessageId;
use http_body::{Body, Frame, SizeHint};

use crate::Hub;

pub struct ReceiptBody {
    /// The body in one chunk, until it is read.
    text: Option<Bytes>,
    hub: Arc<Hub>,
    id: MessageId,
}

impl ReceiptBody {
    pub fn new(text: String, hub: Arc<Hub>, id: MessageId) -> Self {
        Self {
            text: Some(text.into()),
            hub,
            id,
        }
    }
}

impl Body for ReceiptBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let Some(text) = self.text.take() else {
            return Poll::Ready(None);
        };
        // Recorded here, because a connection that knows the length does not poll for the end.
        self.hub.background.receipts.record(&self.id);
        Poll::Ready(Some(Ok(Frame::data(text))))
    }

    fn is_end_stream(&self) -> bool {
        self.text.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.text.as_ref().map_or(0, |text| text.len() as u64))
    }
}
