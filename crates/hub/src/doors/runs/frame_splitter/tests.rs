use std::future::poll_fn;

use futures_util::{FutureExt, SinkExt, StreamExt};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::Role;
use tokio_tungstenite::tungstenite::protocol::frame::Frame as ClientFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};
use tokio_tungstenite::tungstenite::{Error, Message};

use super::*;
use countersign_protocol::frame_header::{LENGTH_IN_8_BYTES, MASK_BIT, MAX_HEADER_BYTES};

const MAX_MESSAGE_BYTES: usize = 1024 * 1024;

fn splitter(budget: &SocketBudget) -> (DuplexStream, FrameSplitter<DuplexStream>) {
    let (client, stream) = duplex(64 * 1024);
    (client, FrameSplitter::new(stream, budget.clone(), MAX_MESSAGE_BYTES))
}

fn masked_header(first_byte: u8, length: u64) -> Vec<u8> {
    [
        &[first_byte, MASK_BIT | LENGTH_IN_8_BYTES],
        &length.to_be_bytes()[..],
        &[1, 2, 3, 4],
    ]
    .concat()
}

fn text(length: usize) -> String {
    (0..length).map(|index| char::from(b'a' + (index % 23) as u8)).collect()
}

#[tokio::test]
async fn messages_of_every_length_arrive_unchanged() {
    let memory_budget = Arc::new(MemoryBudget::default());
    let budget = SocketBudget::new(&memory_budget, "alice");
    let (client, stream) = splitter(&budget);
    let mut client = WebSocketStream::from_raw_socket(client, Role::Client, None).await;
    let mut hub = WebSocketStream::from_raw_socket(stream, Role::Server, None).await;
    let lengths = [
        0,
        1,
        125,
        126,
        65_536,
        FRAGMENT_BYTES,
        FRAGMENT_BYTES + 1,
        3 * FRAGMENT_BYTES,
        300_001,
    ];
    let sending = async {
        for length in lengths {
            client.send(Message::text(text(length))).await.unwrap();
            let parts = [(Data::Binary, false), (Data::Continue, false), (Data::Continue, true)];
            for (kind, is_last) in parts {
                let frame = ClientFrame::message(text(length), OpCode::Data(kind), is_last);
                client.send(Message::Frame(frame)).await.unwrap();
                client.send(Message::Ping("p".into())).await.unwrap();
            }
        }
    };
    let receiving = async {
        for length in lengths {
            for expected in [text(length), text(length).repeat(3)] {
                let message = loop {
                    match hub.next().await.unwrap().unwrap() {
                        Message::Ping(_) => {}
                        message => break message,
                    }
                };
                assert!(message.into_data() == expected.as_bytes(), "{length}");
                budget.message_done();
            }
        }
    };
    tokio::join!(sending, receiving);
    let whole = memory_budget.reserve("alice", 32 * 1024 * 1024);
    assert!(
        whole.now_or_never().is_some_and(|permit| permit.is_ok()),
        "no permit is left behind"
    );
}

#[tokio::test]
async fn no_header_announces_more_than_a_fragment() {
    let budget = SocketBudget::new(&Arc::default(), "alice");
    let (mut client, mut stream) = splitter(&budget);
    let payload = vec![7; FRAGMENT_BYTES + 5];
    let frame = [masked_header(0x81, payload.len() as u64), payload].concat();
    client.write_all(&frame).await.unwrap();
    let mut head = [0; MAX_HEADER_BYTES];
    stream.read_exact(&mut head).await.unwrap();
    assert_eq!(head[..], masked_header(0x01, FRAGMENT_BYTES as u64));
    stream.read_exact(&mut [0; FRAGMENT_BYTES]).await.unwrap();
    stream.read_exact(&mut head).await.unwrap();
    assert_eq!(head[..], masked_header(0x80, 5), "the last fragment ends the message");
}

#[tokio::test(start_paused = true)]
async fn a_long_message_waits_for_its_permit_before_any_of_it_is_passed_on() {
    let memory_budget = Arc::new(MemoryBudget::default());
    let taken = memory_budget.reserve("alice", 32 * 1024 * 1024).await.unwrap();
    for first_byte in [0x81, 0x01] {
        let budget = SocketBudget::new(&memory_budget, "alice");
        let (mut client, mut stream) = splitter(&budget);
        client
            .write_all(&masked_header(first_byte, FRAGMENT_BYTES as u64 + 1))
            .await
            .unwrap();
        assert!(stream.read_u8().now_or_never().is_none(), "{first_byte:x}");
        assert!(stream.read_u8().await.is_err(), "the wait is bounded");
    }
    let budget = SocketBudget::new(&memory_budget, "alice");
    let (mut client, mut stream) = splitter(&budget);
    client
        .write_all(&masked_header(0x81, FRAGMENT_BYTES as u64))
        .await
        .unwrap();
    assert!(stream.read_u8().await.is_ok(), "a short message needs no permit");
    drop(taken);
}

#[tokio::test]
async fn long_frames_of_other_kinds_are_refused_like_before() {
    for (first_byte, length) in [
        (0x89, 500_000),
        (0xc1, 500_000),
        (0x81, MAX_MESSAGE_BYTES as u64 * 1000),
    ] {
        let budget = SocketBudget::new(&Arc::default(), "alice");
        let (mut client, stream) = splitter(&budget);
        let mut hub = WebSocketStream::from_raw_socket(stream, Role::Server, None).await;
        let frame = [masked_header(first_byte, length), vec![0; FRAGMENT_BYTES]].concat();
        client.write_all(&frame).await.unwrap();
        let error = hub.next().await.unwrap().unwrap_err();
        assert!(matches!(error, Error::Protocol(_) | Error::Capacity(_)), "{error}");
    }
}

const MIB: usize = 1024 * 1024;

async fn permit(budget: &SocketBudget) -> io::Result<()> {
    poll_fn(|cx| budget.poll_permit(cx)).await
}

#[tokio::test(start_paused = true)]
async fn incomplete_large_messages_are_bounded_per_caller() {
    let memory_budget = Arc::default();
    let sockets: Vec<SocketBudget> = (0..3).map(|_| SocketBudget::new(&memory_budget, "alice")).collect();
    sockets.iter().for_each(|budget| budget.request(16 * MIB));
    assert!(permit(&sockets[0]).await.is_ok() && permit(&sockets[1]).await.is_ok());
    assert!(permit(&sockets[2]).now_or_never().is_none(), "reading stops");
    let other = SocketBudget::new(&memory_budget, "bob");
    other.request(16 * MIB);
    assert!(permit(&other).await.is_ok(), "other callers have their own budget");
    sockets[0].message_complete();
    assert!(
        permit(&sockets[2]).now_or_never().is_none(),
        "a complete message is in memory"
    );
    sockets[0].message_done();
    assert!(permit(&sockets[2]).await.is_ok(), "a handled message frees its permit");
    sockets[0].request(16 * MIB);
    assert!(permit(&sockets[0]).await.is_err(), "the wait for a permit is bounded");
}

#[tokio::test]
async fn a_message_may_arrive_while_the_one_before_is_handled() {
    let memory_budget = Arc::default();
    let budget = SocketBudget::new(&memory_budget, "alice");
    budget.request(16 * MIB);
    permit(&budget).await.unwrap();
    budget.request(16 * MIB);
    budget.message_complete();
    budget.request(16 * MIB);
    permit(&budget).await.unwrap();
    budget.message_done();
    let other = SocketBudget::new(&memory_budget, "alice");
    other.request(17 * MIB);
    assert!(
        permit(&other).now_or_never().is_none(),
        "the second one keeps its permit"
    );
    budget.message_complete();
    budget.message_done();
    assert!(permit(&other).await.is_ok());
}
