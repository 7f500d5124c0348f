//! Broken WebSocket frames: the hub closes the connection with a code and a reason.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::stage::*;
use crate::harness::*;

const MASK: [u8; 4] = [1, 2, 3, 4];

/// An upgraded connection with full control over every byte.
async fn raw(hub: &Hub) -> TcpStream {
    let address = hub.url.trim_start_matches("http://").to_owned();
    let upgrade = format!(
        "GET /ws HTTP/1.1\r\nhost: {address}\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
         sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    let mut stream = TcpStream::connect(&address).await.expect("the hub accepts");
    stream.write_all(upgrade.as_bytes()).await.expect("the hub reads");
    let mut head = vec![];
    while !head.ends_with(b"\r\n\r\n") {
        head.push(within("the upgrade", stream.read_u8()).await.expect("a byte"));
    }
    assert!(head.starts_with(b"HTTP/1.1 101 "), "{}", String::from_utf8_lossy(&head));
    stream
}

fn masked(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![first, 0x80 | u8::try_from(payload.len()).expect("a short frame")];
    frame.extend(MASK);
    frame.extend(payload.iter().zip(MASK.iter().cycle()).map(|(byte, mask)| byte ^ mask));
    frame
}

/// The close code and reason that these bytes cause.
async fn closed(hub: &Hub, bytes: &[u8]) -> (u16, String) {
    let mut stream = raw(hub).await;
    stream.write_all(bytes).await.expect("the hub reads");
    let mut head = [0; 4];
    within("a close frame", stream.read_exact(&mut head))
        .await
        .expect("a frame");
    assert_eq!(head[0], 0x88, "a close frame: {head:?}");
    let mut reason = vec![0; usize::from(head[1]) - 2];
    within("the reason", stream.read_exact(&mut reason))
        .await
        .expect("a reason");
    (
        u16::from_be_bytes([head[2], head[3]]),
        String::from_utf8(reason).expect("UTF-8"),
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_frame_closes_the_connection_with_the_right_code() {
    let hub = Hub::start().await;
    let mut petabyte = vec![0x81, 0xff];
    petabyte.extend((1_u64 << 50).to_be_bytes());
    petabyte.extend(MASK);
    for (bytes, code, text) in [
        (petabyte, 1009, "too large"),
        (masked(0x81, &[0xff, 0xfe]), 1007, "UTF-8"),
        (vec![0x81, 0x02, b'{', b'}'], 1002, "frame"),
        (masked(0xf1, b"{}"), 1002, "frame"),
        (masked(0x80, b"{}"), 1002, "frame"),
        (masked(0x09, b""), 1002, "frame"),
    ] {
        let (closed_with, reason) = closed(&hub, &bytes).await;
        assert_eq!(closed_with, code, "{bytes:?}: {reason}");
        assert!(reason.contains(text), "{reason}");
    }
    Client::connect(&hub).await.expect_silence().await;
}

/// Each fragment is small enough; only the whole message is too large.
#[tokio::test(flavor = "multi_thread")]
async fn a_fragmented_message_over_the_limit_closes_with_1009() {
    let hub = Hub::start().await;
    let (mut reader, mut writer) = raw(&hub).await.into_split();
    let pieces = async {
        for number in 0..64 {
            let mut piece = vec![if number == 0 { 0x01 } else { 0x00 }, 0xff];
            piece.extend((1_u64 << 20).to_be_bytes());
            piece.extend([0; 4]);
            piece.extend(vec![b'x'; 1 << 20]);
            if writer.write_all(&piece).await.is_err() {
                break;
            }
        }
        std::future::pending().await
    };
    let mut head = [0; 4];
    tokio::select! {
        read = within("a close frame", reader.read_exact(&mut head)) => read.expect("a frame"),
        () = pieces => unreachable!(),
    };
    assert_eq!((head[0], u16::from_be_bytes([head[2], head[3]])), (0x88, 1009));
}
