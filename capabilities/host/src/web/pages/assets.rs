//! The files that pages load. They hold nothing of anybody's.

use axum::http::header;
use axum::response::{IntoResponse, Response};

pub async fn style() -> Response {
    ([(header::CONTENT_TYPE, "text/css; charset=utf-8")], include_str!("../assets/style.css")).into_response()
}

pub async fn script() -> Response {
    ([(header::CONTENT_TYPE, "text/javascript; charset=utf-8")], include_str!("../assets/page.js")).into_response()
}

pub async fn icon() -> Response {
    ([(header::CONTENT_TYPE, "image/svg+xml")], include_str!("../assets/icon.svg")).into_response()
}
