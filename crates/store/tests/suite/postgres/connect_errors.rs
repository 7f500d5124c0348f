//! Failed connections: which of them a later attempt may cure.

use countersign_store::PostgresDatabase;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// The address of a server that refuses every connection with this SQLSTATE, as PostgreSQL does before authentication.
async fn refusing_with(code: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let mut startup = [0; 1024];
            let fields = format!("SFATAL\0VFATAL\0C{code}\0Mrefused\0\0");
            let length = u32::try_from(fields.len() + 4).unwrap();
            let reply = [&b"E"[..], &length.to_be_bytes(), fields.as_bytes()].concat();
            if socket.read(&mut startup).await.is_ok() {
                let _ = socket.write_all(&reply).await;
            }
        }
    });
    format!("postgres://ann:s3cret@{address}/hub?sslmode=disable")
}

async fn is_transient(url: &str, server: &str) -> bool {
    let failed = PostgresDatabase::new(url).unwrap().connect().await.unwrap_err();
    let text = failed.to_string();
    assert!(text.contains(server) && !text.contains("s3cret"), "{text}");
    failed.is_transient
}

#[tokio::test]
async fn server_that_is_starting_stopping_or_full_may_accept_later() {
    for (code, expected) in [
        ("57P03", true),
        ("57P01", true),
        ("57P02", true),
        ("53300", true),
        ("28P01", false),
        ("28000", false),
        ("3D000", false),
        ("42501", false),
    ] {
        let url = refusing_with(code).await;
        assert_eq!(is_transient(&url, "127.0.0.1:").await, expected, "{code}");
    }
}

#[tokio::test]
async fn server_that_is_not_there_may_come_later() {
    for (url, server) in [
        (
            "postgres://ann:s3cret@127.0.0.1:1/hub?sslmode=disable",
            "PostgreSQL at 127.0.0.1:1, database hub, user ann: ",
        ),
        (
            "postgres://ann:s3cret@%2Fnowhere/hub",
            "PostgreSQL at /nowhere/.s.PGSQL.5432, database hub, user ann: ",
        ),
        (
            "postgres://ann:s3cret@db.invalid/hub?sslmode=disable",
            "PostgreSQL at db.invalid:5432, database hub, user ann: ",
        ),
    ] {
        assert!(is_transient(url, server).await, "{url}");
    }
}
