//! Sets up the network inside a new network namespace, before its capabilities are dropped.
//!
//! The namespace has one device, `lo`, and no route to the outside. On a loopback device, the whole prefix of an
//! address is local. A single address with a wide prefix therefore makes all synthetic addresses reach the listeners,
//! without packet filters, device pairs or netlink. The sockets stay in this namespace, even when they are sent to
//! another process.
#![expect(unsafe_code, reason = "setting addresses of a device is an ioctl")]

use std::collections::BTreeSet;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::ioctl::{Opcode, Setter, ioctl};
use rustix::net::{AddressFamily, SocketFlags, SocketType, sockopt};

use super::{RESOLVER_ADDRESS, SYNTHETIC_PREFIX_LENGTH};
use rep_permissions::HostRule;

/// The maximum number of ports. All sockets must fit into one message of at most 253 descriptors.
const PORTS_MAX: usize = 64;

/// The maximum number of literal addresses.
const LITERALS_MAX: usize = 64;

/// The maximum number of connections that wait to be accepted.
const BACKLOG: i32 = 1024;

const SET_INTERFACE_FLAGS: Opcode = 0x8914;
const SET_INTERFACE_ADDRESS: Opcode = 0x8916;
const SET_INTERFACE_MASK: Opcode = 0x891c;

/// The ports and addresses that the declarations of a run require.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GatewayNeeds {
    /// The listening ports: the declared ones, and 80 and 443, so that refused attempts there are recorded.
    pub ports: Vec<u16>,
    /// The addresses required besides the synthetic ones. `0.0.0.0` means every IPv4 address.
    pub literals: Vec<IpAddr>,
}

impl GatewayNeeds {
    /// Returns the needs of these declarations.
    pub fn from_rules(rules: &[HostRule]) -> GatewayNeeds {
        let mut ports = BTreeSet::from([80, 443]);
        let mut literals = BTreeSet::new();
        for rule in rules {
            ports.extend(rule.ports());
            literals.extend(rule.literal_address());
            if rule.is_any_host() {
                literals.insert(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
            }
            if rule.host == "localhost" {
                literals.extend([IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)]);
            }
        }
        GatewayNeeds { ports: ports.into_iter().collect(), literals: literals.into_iter().collect() }
    }
}

/// The sockets of a namespace: one for DNS, and one or two per port.
#[derive(Debug)]
pub struct GatewaySockets {
    pub(super) dns: UdpSocket,
    pub(super) listeners: Vec<TcpListener>,
}

impl GatewaySockets {
    /// Returns the sockets, to be sent in a single message.
    pub fn fds(&self) -> Vec<BorrowedFd<'_>> {
        std::iter::once(self.dns.as_fd()).chain(self.listeners.iter().map(AsFd::as_fd)).collect()
    }

    /// Sorts received sockets by type. They may arrive in any order.
    pub fn from_fds(fds: Vec<OwnedFd>) -> io::Result<GatewaySockets> {
        let mut dns = None;
        let mut listeners = Vec::new();
        for fd in fds {
            match sockopt::socket_type(&fd)? {
                SocketType::DGRAM if dns.is_none() => dns = Some(UdpSocket::from(fd)),
                SocketType::STREAM if sockopt::socket_acceptconn(&fd)? => listeners.push(TcpListener::from(fd)),
                _ => return Err(io::Error::new(io::ErrorKind::InvalidData, "unexpected socket type")),
            }
        }
        let dns = dns.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "the DNS socket is missing"))?;
        Ok(GatewaySockets { dns, listeners })
    }
}

/// Configures the device and opens the sockets of a gateway. The caller must have `CAP_NET_ADMIN` in a new network
/// namespace. Never call this in a shared namespace: it changes addresses.
pub fn open_in_namespace(ports: &[u16], literals: &[IpAddr]) -> io::Result<GatewaySockets> {
    if ports.len() > PORTS_MAX || literals.len() > LITERALS_MAX {
        let reason = format!("more than {PORTS_MAX} ports or {LITERALS_MAX} addresses are declared");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
    }
    let device = rustix::net::socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
    // `IFF_UP` and `IFF_RUNNING`.
    configure_interface::<SET_INTERFACE_FLAGS>(&device, "lo", &0x41_u16.to_ne_bytes())?;
    let mut aliases = vec![(RESOLVER_ADDRESS, SYNTHETIC_PREFIX_LENGTH)];
    for literal in literals {
        match literal {
            IpAddr::V4(every) if every.is_unspecified() => aliases.extend(list_all_prefixes()),
            IpAddr::V4(four) if !four.is_loopback() => aliases.push((*four, 32)),
            IpAddr::V4(_) | IpAddr::V6(_) => {}
        }
    }
    for (number, (address, length)) in aliases.into_iter().enumerate() {
        let name = format!("lo:{}", number + 1);
        configure_interface::<SET_INTERFACE_ADDRESS>(&device, &name, &encode_socket_address(address))?;
        let mask = Ipv4Addr::from_bits(u32::MAX.checked_shl(32 - length).unwrap_or(0));
        configure_interface::<SET_INTERFACE_MASK>(&device, &name, &encode_socket_address(mask))?;
    }
    let dns = UdpSocket::bind((RESOLVER_ADDRESS, 53))?;
    let mut listeners = Vec::new();
    for port in ports {
        listeners.push(open_listener(SocketAddr::from((Ipv4Addr::UNSPECIFIED, *port)))?);
    }
    let six = literals.iter().filter_map(|literal| match literal {
        IpAddr::V6(six) => Some(*six),
        IpAddr::V4(_) => None,
    });
    listeners.extend(open_v6_listeners(ports, &six.collect::<Vec<_>>())?);
    Ok(GatewaySockets { dns, listeners })
}

/// Returns the prefixes of all addresses except 0.0.0.0/8, which the kernel does not route.
fn list_all_prefixes() -> impl Iterator<Item = (Ipv4Addr, u32)> {
    (1..=8).map(|length| (Ipv4Addr::from_bits((1 << (32 - length)) | 1), length))
}

/// Opens listeners for declared IPv6 addresses. Without IPv6 there are none, and programs cannot connect either.
fn open_v6_listeners(ports: &[u16], literals: &[Ipv6Addr]) -> io::Result<Vec<TcpListener>> {
    if literals.is_empty() {
        return Ok(Vec::new());
    }
    let device = match rustix::net::socket_with(AddressFamily::INET6, SocketType::DGRAM, SocketFlags::CLOEXEC, None) {
        Ok(device) => device,
        Err(Errno::AFNOSUPPORT) => return Ok(Vec::new()),
        Err(other) => return Err(other.into()),
    };
    let index = rustix::net::netdevice::name_to_index(&device, "lo")?;
    for literal in literals.iter().filter(|literal| !literal.is_loopback()) {
        let request = InterfaceRequestV6 { address: literal.octets(), length: 128, index };
        // SAFETY: the request is SIOCSIFADDR, which on an IPv6 socket reads an `in6_ifreq`: a 16-byte address, the
        // prefix length and the device index, as laid out in `InterfaceRequestV6`. It writes nothing.
        unsafe { ioctl(&device, Setter::<SET_INTERFACE_ADDRESS, InterfaceRequestV6>::new(request)) }?;
    }
    ports.iter().map(|port| open_listener(SocketAddr::from((Ipv6Addr::UNSPECIFIED, *port)))).collect()
}

/// Opens a listener without `std`, which limits the backlog to 128.
fn open_listener(address: SocketAddr) -> io::Result<TcpListener> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = rustix::net::socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    if address.is_ipv6() {
        sockopt::set_ipv6_v6only(&socket, true)?;
    }
    rustix::net::bind(&socket, &address)?;
    rustix::net::listen(&socket, BACKLOG)?;
    Ok(TcpListener::from(socket))
}

/// `struct ifreq`: a name, and a value that each request interprets.
#[repr(C)]
struct InterfaceRequest {
    name: [u8; 16],
    value: [u8; 24],
}

/// `struct in6_ifreq`.
#[repr(C)]
struct InterfaceRequestV6 {
    address: [u8; 16],
    length: u32,
    index: u32,
}

fn configure_interface<const REQUEST: Opcode>(device: &OwnedFd, name: &str, value: &[u8]) -> io::Result<()> {
    let mut request = InterfaceRequest { name: [0; 16], value: [0; 24] };
    for (to, from) in request.name.iter_mut().zip(name.bytes()) {
        *to = from;
    }
    for (to, from) in request.value.iter_mut().zip(value) {
        *to = *from;
    }
    // SAFETY: every request used here reads an `ifreq` of 40 bytes: the device name and a union that is shorter than
    // `value`. None of them writes.
    unsafe { ioctl(device, Setter::<REQUEST, InterfaceRequest>::new(request)) }?;
    Ok(())
}

/// Encodes a `struct sockaddr_in` without a port.
fn encode_socket_address(address: Ipv4Addr) -> [u8; 8] {
    let [family, zero] = AddressFamily::INET.as_raw().to_ne_bytes();
    let [a, b, c, d] = address.octets();
    [family, zero, 0, 0, a, b, c, d]
}
