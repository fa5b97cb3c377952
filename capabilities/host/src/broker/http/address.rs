//! Which addresses are public.
//!
//! From the special-purpose address registries of the Internet Assigned Numbers Authority for IPv4 and IPv6, as of 2025.
//! Where the registries call something reachable that only infrastructure needs, it is refused as well: a list that is too
//! short costs a page, one that is too long costs the network behind this machine.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A block: its first address and how many of its bits count.
type Block4 = (Ipv4Addr, u32);
type Block6 = (Ipv6Addr, u32);

const fn v4(a: u8, b: u8, c: u8, bits: u32) -> Block4 {
    (Ipv4Addr::new(a, b, c, 0), bits)
}

const fn v6(a: u16, b: u16, c: u16, bits: u32) -> Block6 {
    (Ipv6Addr::new(a, b, c, 0, 0, 0, 0, 0), bits)
}

/// What is not public of IPv4; the rest is.
const NOT_PUBLIC_V4: &[Block4] = &[
    // This network; Linux connects 0.0.0.0 to itself.
    v4(0, 0, 0, 8),
    // Private use.
    v4(10, 0, 0, 8),
    v4(172, 16, 0, 12),
    v4(192, 168, 0, 16),
    // Shared by a carrier's customers.
    v4(100, 64, 0, 10),
    // Loopback.
    v4(127, 0, 0, 8),
    // Link-local: where clouds answer about their machines.
    v4(169, 254, 0, 16),
    // Protocol assignments, the two anycast addresses among them included.
    v4(192, 0, 0, 24),
    // Documentation.
    v4(192, 0, 2, 24),
    v4(198, 51, 100, 24),
    v4(203, 0, 113, 24),
    // Anycast for 6to4 relays, deprecated: where such a packet comes out is the relay's affair.
    v4(192, 88, 99, 24),
    // Benchmarks.
    v4(198, 18, 0, 15),
    // Multicast, reserved, broadcast.
    v4(224, 0, 0, 3),
];

/// The only part of IPv6 that is given out to hosts. Everything else, known or yet to be invented, is outside it: loopback,
/// unique local, link-local, site-local, multicast, discard, segment routing, translation.
const UNICAST_V6: Block6 = v6(0x2000, 0, 0, 3);

/// What is not public of that part.
const NOT_PUBLIC_V6: &[Block6] = &[
    // Protocol assignments: Teredo, benchmarks, overlay identifiers, anycast.
    v6(0x2001, 0, 0, 23),
    // Documentation.
    v6(0x2001, 0xdb8, 0, 32),
    v6(0x3fff, 0, 0, 20),
    // 6to4: another address inside, reached over a relay that nobody chose.
    v6(0x2002, 0, 0, 16),
];

/// The address that a connection to `address` would really go to: an IPv4 address written as IPv6 is that IPv4 address.
pub fn unwrapped(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(six) => six.to_ipv4_mapped().map_or(address, IpAddr::V4),
        IpAddr::V4(_) => address,
    }
}

/// Whether an address is globally reachable.
pub fn is_public(address: IpAddr) -> bool {
    match unwrapped(address) {
        IpAddr::V4(four) => is_public_v4(four),
        IpAddr::V6(six) => match translated(six) {
            Some(four) => is_public_v4(four),
            None => within_v6(six, &UNICAST_V6) && !NOT_PUBLIC_V6.iter().any(|block| within_v6(six, block)),
        },
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let bits = address.to_bits();
    !NOT_PUBLIC_V4.iter().any(|(first, length)| (bits ^ first.to_bits()) >> (32 - length) == 0)
}

fn within_v6(address: Ipv6Addr, (first, length): &Block6) -> bool {
    (address.to_bits() ^ first.to_bits()) >> (128 - length) == 0
}

/// The IPv4 address behind the well-known prefix that translates to it, `64:ff9b::/96`. The older form `::a.b.c.d` and the
/// translation prefixes of single networks are outside what is public, whatever they carry.
fn translated(address: Ipv6Addr) -> Option<Ipv4Addr> {
    const PREFIX: u128 = Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0).to_bits();
    let bits = address.to_bits();
    let inner = u32::try_from(bits & u128::from(u32::MAX)).ok()?;
    (bits >> 32 == PREFIX >> 32).then(|| Ipv4Addr::from_bits(inner))
}

#[cfg(test)]
mod tests {
    use super::is_public;
    use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

    fn public(text: &str) -> bool {
        is_public(text.parse().unwrap())
    }

    #[test]
    fn every_edge_of_the_ipv4_table() {
        for (last_before, first, last, first_after) in [
            ("9.255.255.255", "10.0.0.0", "10.255.255.255", "11.0.0.0"),
            ("100.63.255.255", "100.64.0.0", "100.127.255.255", "100.128.0.0"),
            ("126.255.255.255", "127.0.0.0", "127.255.255.255", "128.0.0.0"),
            ("169.253.255.255", "169.254.0.0", "169.254.255.255", "169.255.0.0"),
            ("172.15.255.255", "172.16.0.0", "172.31.255.255", "172.32.0.0"),
            ("191.255.255.255", "192.0.0.0", "192.0.0.255", "192.0.1.0"),
            ("192.0.1.255", "192.0.2.0", "192.0.2.255", "192.0.3.0"),
            ("192.88.98.255", "192.88.99.0", "192.88.99.255", "192.88.100.0"),
            ("192.167.255.255", "192.168.0.0", "192.168.255.255", "192.169.0.0"),
            ("198.17.255.255", "198.18.0.0", "198.19.255.255", "198.20.0.0"),
            ("198.51.99.255", "198.51.100.0", "198.51.100.255", "198.51.101.0"),
            ("203.0.112.255", "203.0.113.0", "203.0.113.255", "203.0.114.0"),
        ] {
            assert!(public(last_before) && public(first_after), "{first}");
            assert!(!public(first) && !public(last), "{first}");
        }
        assert!(!public("0.0.0.0") && !public("0.255.255.255") && public("1.0.0.0"));
        assert!(
            public("223.255.255.255") && !public("224.0.0.0") && !public("240.0.0.1") && !public("255.255.255.255")
        );
    }

    #[test]
    fn ipv6_is_judged_by_what_it_leads_to() {
        for address in ["2606:4700::1111", "2a00:1450:4001::1", "2001:200::1", "64:ff9b::8.8.8.8", "::ffff:8.8.8.8"] {
            assert!(public(address), "{address}");
        }
        for address in [
            // Loopback, unspecified, and IPv4 in older clothes.
            "::1",
            "::",
            "::127.0.0.1",
            "::8.8.8.8",
            "::ffff:127.0.0.1",
            "::ffff:0:8.8.8.8",
            // Translated, to a private address or by a private prefix.
            "64:ff9b::10.0.0.1",
            "64:ff9b::127.0.0.1",
            "64:ff9b:1::8.8.8.8",
            // 6to4 and Teredo, whatever is inside.
            "2002:7f00:1::",
            "2002:808:808::1",
            "2001:0:0:0:0:0:80ff:fefe",
            "2001::1",
            // Local of every kind.
            "fe80::1",
            "febf::1",
            "fec0::1",
            "fc00::1",
            "fd12:3456::1",
            "ff02::1",
            "ff0e::1",
            // Documentation, benchmarks, identifiers, discard, segment routing.
            "2001:db8::1",
            "3fff:fff::1",
            "2001:2::1",
            "2001:10::1",
            "2001:20::1",
            "100::1",
            "5f00::1",
            "4000::1",
            "1fff:ffff::1",
        ] {
            assert!(!public(address), "{address}");
        }
        assert!(public("3fff:1000::1"));
    }

    /// Another implementation of the same registries, over random addresses and over every block's edges. It knows fewer
    /// blocks than this table does; where the two differ, the difference is one of those named here, and this table is the
    /// stricter one.
    #[test]
    fn agrees_with_another_table_or_is_stricter() {
        let mut random = 0x9e37_79b9_7f4a_7c15_u64;
        let mut next = || {
            // xorshift64: the spread matters, the quality does not.
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random
        };
        let (mut public, mut not) = (0, 0);
        for round in 0..200_000_u32 {
            let four = Ipv4Addr::from_bits((next() >> 32) as u32);
            let edges = super::NOT_PUBLIC_V4.iter().flat_map(|(first, length)| {
                let (first, size) = (first.to_bits(), 1_u32 << (32 - length).min(31));
                [first, first.wrapping_sub(1), first.wrapping_add(size - 1), first.wrapping_add(size)]
            });
            let fours: Vec<_> = if round == 0 { edges.map(Ipv4Addr::from_bits).collect() } else { vec![four] };
            for four in fours {
                let (ours, theirs) = (is_public(IpAddr::V4(four)), ip_network::Ipv4Network::from(four).is_global());
                let known = match four.octets() {
                    // Deprecated relays and all of the protocol assignments: theirs lets some of them pass.
                    [192, 88, 99, _] | [192, 0, 0, _] => !ours,
                    // Multicast beyond the machine is global to them; nothing speaks HTTP there.
                    [224..=239, ..] => !ours,
                    // This network, as a whole.
                    [0, ..] => !ours,
                    _ => false,
                };
                assert!(ours == theirs || known, "{four}: {ours} here, {theirs} there");
                if ours { public += 1 } else { not += 1 }
            }
            let high = u128::from(next()) << 64 | u128::from(next());
            // Most random addresses are in no block at all: half of them are put into the interesting ones.
            let six = match round % 8 {
                0 => 0x2001_u128 << 112 | (high >> 96 & 0x1ff) << 96 | high & u128::from(u64::MAX),
                1 => 0x2002_u128 << 112 | high >> 16,
                2 => high >> 96,
                3 => 0x64_ff9b_u128 << 96 | high >> 96,
                4 => 0xfc00_u128 << 112 | high >> 7,
                5 => 0x2000_u128 << 112 | high >> 3,
                _ => high,
            };
            let six = Ipv6Addr::from_bits(six);
            let (ours, theirs) = (is_public(IpAddr::V6(six)), ip_network::Ipv6Network::from(six).is_global());
            let stricter = !ours && theirs;
            // Theirs calls translated addresses local; here they are what they are translated to.
            let translated = super::translated(six).is_some() || six.to_ipv4_mapped().is_some();
            assert!(ours == theirs || stricter || translated, "{six}: {ours} here, {theirs} there");
        }
        assert!(public > 100_000 && not > 10_000, "both sides were visited: {public} and {not}");
    }
}
