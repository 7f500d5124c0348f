//! Whether a local client runs as the hub's own user. Linux lists every socket with the user id of its owner; other
//! systems have no such table, and their clients need a token.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use rustix::process::geteuid;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::http::client_addr::Endpoints;

const IPV4_TABLE: &str = "/proc/net/tcp";
const IPV6_TABLE: &str = "/proc/net/tcp6";
const OVERFLOW_UID_FILE: &str = "/proc/sys/kernel/overflowuid";
const DEFAULT_OVERFLOW_UID: u32 = 65534;
/// Twice the connections that the hub accepts.
const MAX_ROWS: usize = 200_000;
const ESTABLISHED: &str = "01";
/// Reading a long table takes a while, so that many upgrades at once must not occupy the blocking pool.
static LOOKUPS: Semaphore = Semaphore::const_new(2);
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(5);

/// The error is the reason why the client needs a token.
pub async fn verify(endpoints: Endpoints) -> Result<(), &'static str> {
    let lookup = async {
        let permit = LOOKUPS.acquire().await.ok()?;
        let search = move || (owner_of_client(endpoints), permit).0;
        tokio::task::spawn_blocking(search).await.ok()?
    };
    let owner = timeout(LOOKUP_TIMEOUT, lookup).await.ok().flatten();
    compare(owner, geteuid().as_raw(), overflow_uid())
}

fn compare(owner: Option<u32>, own: u32, overflow: u32) -> Result<(), &'static str> {
    match owner {
        None => Err("the hub cannot tell which user your program runs as"),
        // The kernel shows every user of a foreign user namespace under this id.
        Some(_) if own == overflow => Err("the hub runs as the overflow user, which others can look like"),
        Some(owner) if owner == own => Ok(()),
        Some(_) => Err("your program runs as another user than the hub"),
    }
}

fn overflow_uid() -> u32 {
    let written = std::fs::read_to_string(OVERFLOW_UID_FILE).ok();
    written
        .and_then(|text| text.trim().parse().ok())
        .unwrap_or(DEFAULT_OVERFLOW_UID)
}

/// An IPv6 socket can connect to an IPv4 address, and is then in the IPv6 table.
fn owner_of_client(endpoints: Endpoints) -> Option<u32> {
    let owner_in = |table: &str, written: fn(SocketAddr) -> String| {
        let rows = BufReader::new(File::open(table).ok()?).lines().map_while(Result::ok);
        find_owner(rows, &written(endpoints.client), &written(endpoints.hub))
    };
    let is_ipv4 = endpoints.client.ip().to_canonical().is_ipv4();
    let in_ipv4 = is_ipv4.then(|| owner_in(IPV4_TABLE, ipv4_column)).flatten();
    in_ipv4.or_else(|| owner_in(IPV6_TABLE, ipv6_column))
}

/// The user id in the row of an established connection. A row without an inode belongs to no process any more.
fn find_owner(rows: impl Iterator<Item = String>, local: &str, remote: &str) -> Option<u32> {
    rows.take(MAX_ROWS).find_map(|row| {
        let columns: Vec<&str> = row.split_ascii_whitespace().take(10).collect();
        match columns.as_slice() {
            [_, from, to, ESTABLISHED, _, _, _, uid, _, inode] if *from == local && *to == remote && *inode != "0" => {
                uid.parse().ok()
            }
            _ => None,
        }
    })
}

/// An address as the kernel writes it: words of 32 bits in the byte order of the machine, then the port.
fn ipv4_column(address: SocketAddr) -> String {
    match address.ip().to_canonical() {
        IpAddr::V4(ip) => format!("{:08X}:{:04X}", u32::from_ne_bytes(ip.octets()), address.port()),
        IpAddr::V6(_) => String::new(),
    }
}

fn ipv6_column(address: SocketAddr) -> String {
    let ip: Ipv6Addr = match address.ip() {
        IpAddr::V4(ip) => ip.to_ipv6_mapped(),
        IpAddr::V6(ip) => ip,
    };
    let octets = ip.octets();
    let words = octets.as_chunks::<4>().0.iter().map(|word| u32::from_ne_bytes(*word));
    let words: String = words.map(|word| format!("{word:08X}")).collect();
    format!("{words}:{:04X}", address.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    const IPV4_ROWS: &str = "\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1CFE 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 21001 1 0000000000000000 100 0 0 10 0
   1: 0100007F:1CFE 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000        0 21002 1 0000000000000000 20 4 30 10 -1
   2: 0100007F:C350 0100007F:1CFE 01 00000000:00000000 00:00000000 00000000  1001        0 21003 1 0000000000000000 20 4 30 10 -1
   3: 0100007F:C351 0100007F:1CFE 06 00000000:00000000 03:00001770 00000000     0        0 0 3 0000000000000000
   4: 0100007F:C352 0100007F:1CFE 01 00000000:00000000 00:00000000 00000000     0        0 0 1 0000000000000000 20 4 30 10 -1
   5: 0100007F:C353 0100007F:1CFE 01 00000000:00000000 00:00000000 00000000  many        0 21006 1 0000000000000000 20 4 30 10 -1
   6: 0100007F:C354 0100007F:1CFE 01 00000000:00000000
";
    const IPV6_ROWS: &str = "\
  sl  local_address                         remote_address                        st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000000000000000000001000000:C350 00000000000000000000000001000000:1CFE 01 00000000:00000000 00:00000000 00000000  1002        0 21011 1 0000000000000000 20 4 30 10 -1
   1: 0000000000000000FFFF00000100007F:C355 0000000000000000FFFF00000100007F:1CFE 01 00000000:00000000 00:00000000 00000000  1003        0 21012 1 0000000000000000 20 4 30 10 -1
";

    fn owner(rows: &str, written: fn(SocketAddr) -> String, client: &str, hub: &str) -> Option<u32> {
        let column = |address: &str| written(address.parse().unwrap());
        find_owner(rows.lines().map(str::to_owned), &column(client), &column(hub))
    }

    #[cfg(target_endian = "little")]
    #[test]
    fn the_row_of_the_client_names_its_user() {
        let ipv4 = |client: &str| owner(IPV4_ROWS, ipv4_column, client, "127.0.0.1:7422");
        assert_eq!(ipv4("127.0.0.1:50000"), Some(1001), "not the hub's own end");
        assert_eq!(ipv4("[::ffff:127.0.0.1]:50000"), Some(1001));
        let ipv6 = |client: &str, hub: &str| owner(IPV6_ROWS, ipv6_column, client, hub);
        assert_eq!(ipv6("[::1]:50000", "[::1]:7422"), Some(1002));
        assert_eq!(ipv6("127.0.0.1:50005", "127.0.0.1:7422"), Some(1003));
    }

    #[cfg(target_endian = "little")]
    #[test]
    fn a_row_that_proves_nothing_names_no_user() {
        let ipv4 = |client: &str, hub: &str| owner(IPV4_ROWS, ipv4_column, client, hub);
        for (client, why) in [
            ("127.0.0.1:50001", "closing, shown as root"),
            ("127.0.0.1:50002", "of no process, shown as root"),
            ("127.0.0.1:50003", "the user id is no number"),
            ("127.0.0.1:50004", "the row is cut off"),
            ("127.0.0.1:50009", "no such row"),
            ("127.0.0.2:50000", "another address"),
        ] {
            assert_eq!(ipv4(client, "127.0.0.1:7422"), None, "{why}");
        }
        assert_eq!(ipv4("127.0.0.1:50000", "127.0.0.1:7423"), None, "another hub");
        assert_eq!(ipv4("127.0.0.1:7422", "0.0.0.0:0"), None, "listening");
    }

    #[test]
    fn only_the_same_user_needs_no_token() {
        assert!(compare(Some(1000), 1000, 65534).is_ok() && compare(Some(0), 0, 65534).is_ok());
        assert!(compare(Some(1001), 1000, 65534).unwrap_err().contains("another user"));
        assert!(compare(Some(0), 1000, 65534).is_err(), "root is another user");
        assert!(compare(None, 1000, 65534).is_err());
        assert!(
            compare(Some(65534), 65534, 65534).is_err(),
            "every foreign user looks like the overflow user"
        );
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn own_connections_are_found_in_the_table_of_the_kernel() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = tokio::net::TcpListener::bind(address).await else {
                continue;
            };
            let hub = listener.local_addr().unwrap();
            let client = tokio::net::TcpStream::connect(hub).await.unwrap();
            let endpoints = Endpoints {
                client: client.local_addr().unwrap(),
                hub,
            };
            assert_eq!(owner_of_client(endpoints), Some(geteuid().as_raw()), "{address}");
            drop(client);
        }
    }
}
