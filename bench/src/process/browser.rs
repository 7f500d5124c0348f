//! A browser session at a hub, reduced to its cookie.

use std::net::SocketAddr;

use anyhow::{Context, Result, ensure};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::load::Head;

/// A CSRF token of the expected length, sent both in the form and in the cookie (double submit).
const FORM_TOKEN: &str = "benchbenchbenchbenchbenchbenchbenchbenchbe0";

/// Redeems a one-time sign-in link and returns the session cookie, ready for a `cookie` header.
pub async fn redeem(address: SocketAddr, path: &str) -> Result<String> {
    let port = address.port();
    let body = format!("csrf={FORM_TOKEN}");
    let request = format!(
        "POST {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncookie: countersign_{port}_form={FORM_TOKEN}\r\n\
         content-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(request.as_bytes()).await?;
    let mut reply = Vec::new();
    stream.read_to_end(&mut reply).await?;
    let head = Head::find(&reply)?.context("no reply to the sign-in")?;
    ensure!(
        head.first_line().contains(" 303 "),
        "the sign-in was refused: {}",
        head.first_line()
    );
    let cookie = head.field("set-cookie").context("no cookie came with the sign-in")?;
    Ok(cookie.split(';').next().unwrap_or_default().to_owned())
}
