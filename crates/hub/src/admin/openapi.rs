//! GET /openapi.json

use axum::http::header;
use axum::response::{IntoResponse, Response};

pub async fn document() -> Response {
    let text = include_str!("../../openapi.json");
    ([(header::CONTENT_TYPE, "application/json")], text).into_response()
}
