//! Decides which addresses belong to the public internet.
//!
//! The owner of a name decides what it resolves to. A declared name therefore does not grant access to this machine,
//! its networks or the metadata address of a cloud: those require a declaration of the address itself. The ranges are
//! from the IANA registries of special-purpose addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::HostRule;

/// IPv4 ranges that are not public: network and prefix length.
const NOT_PUBLIC_V4: &[(Ipv4Addr, u32)] = &[
    // This network; the kernel treats 0.0.0.0 as this machine.
    (Ipv4Addr::UNSPECIFIED, 8),
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    // Carrier-grade NAT.
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    // Link-local, including the metadata address of most clouds.
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    // Documentation.
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    // 6to4 relays.
    (Ipv4Addr::new(192, 88, 99, 0), 24),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    // Benchmarks, and the synthetic addresses of the gateway.
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    // The Azure WireServer, reachable from every virtual machine there.
    (Ipv4Addr::new(168, 63, 129, 16), 32),
    // Multicast, reserved, broadcast.
    (Ipv4Addr::new(224, 0, 0, 0), 3),
];

/// IPv6 ranges in `2000::/3` that are not public. All ranges outside it are not public either.
const NOT_PUBLIC_V6: &[(Ipv6Addr, u32)] = &[
    // Protocol assignments: Teredo, ORCHID, benchmarks.
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32),
    // 6to4 embeds an arbitrary IPv4 address.
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20),
];

/// The NAT64 prefix. The last bits contain an IPv4 address, which is checked instead. On a network without IPv4, every
/// name without an IPv6 address resolves to such an address.
const NAT64: Ipv6Addr = Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0);

impl HostRule {
    /// Whether the rule does not name this machine or its networks. Names that resolve to them are detected when they
    /// are looked up.
    pub fn is_public(&self) -> bool {
        match self.host.trim_matches(['[', ']']).parse::<IpAddr>() {
            Ok(address) => is_public_address(address),
            Err(_) => self.host != "localhost" && !self.host.ends_with(".localhost"),
        }
    }
}

/// Whether an address belongs to the public internet.
pub fn is_public_address(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(four) => !NOT_PUBLIC_V4.iter().any(|(network, length)| is_in_network_v4(four, *network, *length)),
        IpAddr::V6(six) if is_in_network_v6(six, NAT64, 96) => {
            let [.., a, b, c, d] = six.octets();
            is_public_address(IpAddr::V4(Ipv4Addr::new(a, b, c, d)))
        }
        IpAddr::V6(six) => {
            is_in_network_v6(six, Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3)
                && !NOT_PUBLIC_V6.iter().any(|(network, length)| is_in_network_v6(six, *network, *length))
        }
    }
}

fn is_in_network_v4(address: Ipv4Addr, network: Ipv4Addr, length: u32) -> bool {
    (address.to_bits() ^ network.to_bits()).leading_zeros() >= length
}

fn is_in_network_v6(address: Ipv6Addr, network: Ipv6Addr, length: u32) -> bool {
    (address.to_bits() ^ network.to_bits()).leading_zeros() >= length
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_are_not_of_the_internet_are_known() {
        for text in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "10.255.255.255",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.254",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.8",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.0.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.1",
            "203.0.113.1",
            "168.63.129.16",
            "224.0.0.1",
            "239.255.255.255",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::127.0.0.1",
            "::ffff:127.0.0.1",
            "::ffff:1.1.1.1",
            "64:ff9b::7f00:1",
            "64:ff9b::a9fe:a9fe",
            "64:ff9b:1::1.1.1.1",
            "100::1",
            "2001::1",
            "2001:10::1",
            "2001:20::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "2002:101:101::",
            "3fff::1",
            "5f00::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ] {
            assert!(!is_public_address(text.parse().unwrap()), "{text}");
        }
    }

    #[test]
    fn a_declared_host_says_whether_it_is_of_this_machine_or_its_networks() {
        for (text, expected) in [
            ("localhost:8080", false),
            ("app.localhost", false),
            ("127.0.0.1", false),
            ("[::1]:80", false),
            ("[fd00::1]", false),
            ("10.1.2.3", false),
            ("localhost.example.com", true),
            ("mylocalhost", true),
            ("api.example.com", true),
            ("*.example.com", true),
            ("8.8.8.8", true),
            ("[2606:4700::1111]:443", true),
        ] {
            assert_eq!(HostRule::parse(text).unwrap().is_public(), expected, "{text}");
        }
    }

    #[test]
    fn addresses_of_the_internet_are_known() {
        for text in [
            "1.1.1.1",
            "8.8.8.8",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.1",
            "168.63.129.17",
            "169.253.0.1",
            "172.15.0.1",
            "172.32.0.1",
            "192.0.1.1",
            "192.167.0.1",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "2001:200::1",
            "2001:4860:4860::8888",
            "2606:4700::1111",
            "2a00:1450::1",
            "64:ff9b::101:101",
        ] {
            assert!(is_public_address(text.parse().unwrap()), "{text}");
        }
    }
}
