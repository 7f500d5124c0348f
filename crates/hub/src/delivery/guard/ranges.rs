//! Address ranges that a push may not reach: everything outside the public internet (SSRF protection).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{Ipv4Net, Ipv6Net};

use super::TargetRefused;

const fn v4(a: u8, b: u8, c: u8, d: u8, length: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), length)
}

const fn v6(head: [u16; 3], length: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(head[0], head[1], head[2], 0, 0, 0, 0, 0), length)
}

const BLOCKED_V4: [(Ipv4Net, &str); 17] = [
    (v4(0, 0, 0, 0, 8), "an address of this network"),
    (v4(10, 0, 0, 0, 8), "a private address"),
    (v4(100, 64, 0, 0, 10), "a carrier's shared address"),
    (v4(127, 0, 0, 0, 8), "a loopback address"),
    // The Azure metadata service, although the address looks public.
    (v4(168, 63, 129, 16, 32), "a metadata address"),
    (v4(169, 254, 169, 254, 32), "a metadata address"),
    (v4(169, 254, 0, 0, 16), "a link-local address"),
    (v4(172, 16, 0, 0, 12), "a private address"),
    (v4(192, 0, 0, 0, 24), "a protocol assignment"),
    (v4(192, 0, 2, 0, 24), "a documentation address"),
    (v4(192, 88, 99, 0, 24), "a 6to4 relay"),
    (v4(192, 168, 0, 0, 16), "a private address"),
    (v4(198, 18, 0, 0, 15), "a benchmarking address"),
    (v4(198, 51, 100, 0, 24), "a documentation address"),
    (v4(203, 0, 113, 0, 24), "a documentation address"),
    (v4(224, 0, 0, 0, 4), "a multicast address"),
    (v4(240, 0, 0, 0, 4), "a reserved or broadcast address"),
];

const GLOBAL_UNICAST: Ipv6Net = v6([0x2000, 0, 0], 3);

/// Blocked ranges inside global unicast, and some outside of it for a clearer error.
const BLOCKED_V6: [(Ipv6Net, &str); 13] = [
    (v6([0x2001, 0, 0], 32), "a Teredo address"),
    (v6([0x2001, 0x2, 0], 48), "a benchmarking address"),
    (v6([0x2001, 0, 0], 23), "a protocol assignment"),
    (v6([0x2001, 0xdb8, 0], 32), "a documentation address"),
    (v6([0x2002, 0, 0], 16), "a 6to4 address"),
    (v6([0x3fff, 0, 0], 20), "a documentation address"),
    (v6([0x64, 0xff9b, 0], 96), "a NAT64 address"),
    (v6([0x64, 0xff9b, 1], 48), "a NAT64 address"),
    (v6([0xfc00, 0, 0], 7), "a unique local address"),
    (v6([0xfe80, 0, 0], 10), "a link-local address"),
    (v6([0xfec0, 0, 0], 10), "a site-local address"),
    (v6([0xff00, 0, 0], 8), "a multicast address"),
    // The unspecified address and deprecated IPv4-compatible addresses.
    (v6([0, 0, 0], 96), "an IPv4-compatible address"),
];

/// Whether a push may connect to this address. `allow_loopback` opens loopback only.
pub fn check(ip: IpAddr, allow_loopback: bool) -> Result<(), TargetRefused> {
    // An IPv4-mapped IPv6 address reaches the same machine.
    let ip = ip.to_canonical();
    if ip.is_loopback() {
        return if allow_loopback {
            Ok(())
        } else {
            Err(TargetRefused::Address("a loopback address"))
        };
    }
    let blocked = match ip {
        IpAddr::V4(ip) => BLOCKED_V4
            .iter()
            .find(|(net, _)| net.contains(&ip))
            .map(|(_, name)| *name),
        IpAddr::V6(ip) => blocked_v6(ip),
    };
    blocked.map_or(Ok(()), |name| Err(TargetRefused::Address(name)))
}

fn blocked_v6(ip: Ipv6Addr) -> Option<&'static str> {
    let named = BLOCKED_V6
        .iter()
        .find(|(net, _)| net.contains(&ip))
        .map(|(_, name)| *name);
    named.or_else(|| (!GLOBAL_UNICAST.contains(&ip)).then_some("a non-public address"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(ip: &str, allow_loopback: bool) -> Result<(), TargetRefused> {
        check(ip.parse().unwrap(), allow_loopback)
    }

    #[test]
    fn public_addresses_are_allowed() {
        for ip in [
            "1.1.1.1",
            "8.8.8.8",
            "100.63.255.255",
            "100.128.0.1",
            "172.32.0.1",
            "223.255.255.255",
        ] {
            assert_eq!(checked(ip, false), Ok(()), "{ip}");
        }
        for ip in ["2606:4700::1111", "2a00:1450::1", "2001:200::1", "::ffff:1.1.1.1"] {
            assert_eq!(checked(ip, false), Ok(()), "{ip}");
        }
    }

    #[test]
    fn edges_of_every_blocked_range_are_blocked() {
        for (net, name) in BLOCKED_V4 {
            for ip in [net.network(), net.broadcast()] {
                assert!(check(IpAddr::V4(ip), false).is_err(), "{ip} is {name}");
                assert!(
                    check(IpAddr::V6(ip.to_ipv6_mapped()), false).is_err(),
                    "mapped {ip} is {name}"
                );
            }
        }
        for (net, name) in BLOCKED_V6 {
            for ip in [net.network(), net.broadcast()] {
                assert!(check(IpAddr::V6(ip), false).is_err(), "{ip} is {name}");
            }
        }
        for ip in [
            "::",
            "::7f00:1",
            "100::1",
            "5f00::1",
            "4000::1",
            "1fff::1",
            "fd00:ec2::254",
        ] {
            assert!(checked(ip, false).is_err(), "{ip}");
        }
    }

    #[test]
    fn development_flag_opens_loopback_only() {
        for ip in ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"] {
            assert_eq!(
                checked(ip, false),
                Err(TargetRefused::Address("a loopback address")),
                "{ip}"
            );
            assert_eq!(checked(ip, true), Ok(()), "{ip}");
        }
        for ip in [
            "10.0.0.1",
            "169.254.169.254",
            "0.0.0.0",
            "::",
            "fe80::1",
            "fd00::1",
            "64:ff9b::7f00:1",
        ] {
            assert!(checked(ip, true).is_err(), "{ip}");
        }
    }
}
