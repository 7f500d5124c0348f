//! The QR code that a started hub shows for a phone, read as a phone reads it.

use std::net::{IpAddr, TcpListener, UdpSocket};

use super::pane::PaneOptions;
use crate::harness::qr_text;

/// The options for a code: that of the local network, or of a proxy if this machine is in no network.
fn reachable_by_a_phone() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let listen = listener.local_addr().expect("an address");
    match private_address() {
        Some(own) => format!("--listen {listen} --lan={own}"),
        None => format!("--listen {listen} --public-url https://hub.example"),
    }
}

/// Connecting a datagram socket sends nothing; it only looks up the route.
fn private_address() -> Option<IpAddr> {
    let routes = [("0.0.0.0:0", "192.0.2.1:9"), ("[::]:0", "[2001:db8::1]:9")];
    let own = |(from, to)| {
        let socket = UdpSocket::bind(from).ok()?;
        socket.connect(to).ok()?;
        Some(socket.local_addr().ok()?.ip())
    };
    routes.into_iter().filter_map(own).find(|own| match own {
        IpAddr::V4(own) => own.is_private(),
        IpAddr::V6(own) => own.is_unique_local(),
    })
}

/// Two rows of modules for each line of half blocks; `true` is dark. Lines without a block are no part of the code.
fn modules(screen: &str) -> Vec<Vec<bool>> {
    let lines: Vec<&str> = screen.lines().filter(|line| line.contains(['█', '▀', '▄'])).collect();
    let width = lines.iter().map(|line| line.chars().count()).max().unwrap_or(0);
    let row = |line: &&str, dark: [char; 2]| {
        let mut row: Vec<bool> = line.chars().map(|letter| dark.contains(&letter)).collect();
        row.resize(width, false);
        row
    };
    lines
        .iter()
        .flat_map(|line| [row(line, ['█', '▀']), row(line, ['█', '▄'])])
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_phone_reads_the_sign_in_link_from_the_code_on_the_screen() {
    let pane = PaneOptions::without_hub("serve")
        .args(&reachable_by_a_phone())
        .size(120, 70)
        .start();
    let screen = pane
        .shows_all(&["Or scan it with a phone:", "Ctrl-C stops the hub."])
        .await;
    let link = screen.lines().map(str::trim).find(|line| line.contains("/signin/"));
    assert_eq!(qr_text(&modules(&screen)).as_deref(), link, "{screen}");
    assert!(link.is_some_and(|link| link.starts_with("https://")), "{screen}");
}
