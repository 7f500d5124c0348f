//! The QR code that a started hub shows for a phone, read as a phone reads it.

use std::net::{IpAddr, TcpListener, UdpSocket};

use rqrr::PreparedImage;

use super::pane::PaneOptions;

/// The pixels of one module: a reader needs several.
const SCALE: usize = 4;
/// Light modules around the code, more than the screen shows: the terminal around it is no part of the picture.
const QUIET_ZONE: usize = 4;

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

fn decoded(screen: &str) -> Option<String> {
    let modules = modules(screen);
    let width = modules.first().map_or(0, Vec::len);
    let is_dark = |x: usize, y: usize| {
        let at = |pixel: usize| (pixel / SCALE).checked_sub(QUIET_ZONE);
        let row = at(y).and_then(|row| modules.get(row));
        row.zip(at(x)).and_then(|(row, x)| row.get(x)).is_some_and(|dark| *dark)
    };
    let size = |count: usize| (count + 2 * QUIET_ZONE) * SCALE;
    let mut image =
        PreparedImage::prepare_from_greyscale(
            size(width),
            size(modules.len()),
            |x, y| {
                if is_dark(x, y) { 0 } else { 255 }
            },
        );
    let grids = image.detect_grids();
    grids.first()?.decode().ok().map(|(_, text)| text)
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
    assert_eq!(decoded(&screen).as_deref(), link, "{screen}");
    assert!(link.is_some_and(|link| link.starts_with("https://")), "{screen}");
}
