//! The inner side: what is done once inside a fresh network namespace, while its capabilities are still held.
//!
//! The namespace gets one device, `lo`, and no way out. On a loopback device the whole prefix of an address is local,
//! so that one address with a wide prefix makes every stand-in reach the listeners; no packet filter, no pair of
//! devices and no netlink is needed. The sockets made here keep belonging to this namespace wherever they are sent.
#![expect(unsafe_code, reason = "setting addresses of a device is an ioctl")]

use std::collections::BTreeSet;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::ioctl::{Opcode, Setter, ioctl};
use rustix::net::{AddressFamily, SocketFlags, SocketType, sockopt};

use super::{RESOLVER, STAND_INS_LENGTH};
use rep_permissions::HostRule;

/// The most ports. All sockets must fit into one message, which carries 253.
const PORTS_MAX: usize = 64;

/// The most literal addresses.
const LITERALS_MAX: usize = 64;

/// How many connections may wait to be accepted.
const BACKLOG: i32 = 1024;

const SET_FLAGS: Opcode = 0x8914;
const SET_ADDRESS: Opcode = 0x8916;
const SET_MASK: Opcode = 0x891c;

/// What must be open inside for a run to reach what it declares.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// The ports to listen on: the declared ones, and those of the web, so that tries there are seen and told.
    pub ports: Vec<u16>,
    /// The addresses that must be there besides the stand-ins. `0.0.0.0` is every IPv4 address.
    pub literals: Vec<IpAddr>,
}

impl Needs {
    /// What these declarations need.
    pub fn of(rules: &[HostRule]) -> Needs {
        let mut ports = BTreeSet::from([80, 443]);
        let mut literals = BTreeSet::new();
        for rule in rules {
            ports.extend(rule.ports());
            literals.extend(rule.literal());
            if rule.is_any() {
                literals.insert(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
            }
            if rule.host == "localhost" {
                literals.extend([IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)]);
            }
        }
        Needs { ports: ports.into_iter().collect(), literals: literals.into_iter().collect() }
    }
}

/// The sockets of one namespace: one for questions about names, one or two for each port.
#[derive(Debug)]
pub struct Sockets {
    pub(super) dns: UdpSocket,
    pub(super) listeners: Vec<TcpListener>,
}

impl Sockets {
    /// The sockets, to be sent out in one message.
    pub fn fds(&self) -> Vec<BorrowedFd<'_>> {
        std::iter::once(self.dns.as_fd()).chain(self.listeners.iter().map(AsFd::as_fd)).collect()
    }

    /// Takes the sockets out of a message, in any order.
    pub fn from_fds(fds: Vec<OwnedFd>) -> io::Result<Sockets> {
        let mut dns = None;
        let mut listeners = Vec::new();
        for fd in fds {
            match sockopt::socket_type(&fd)? {
                SocketType::DGRAM if dns.is_none() => dns = Some(UdpSocket::from(fd)),
                SocketType::STREAM if sockopt::socket_acceptconn(&fd)? => listeners.push(TcpListener::from(fd)),
                _ => return Err(io::Error::new(io::ErrorKind::InvalidData, "a socket no gateway has")),
            }
        }
        let dns = dns.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "no socket for questions"))?;
        Ok(Sockets { dns, listeners })
    }
}

/// Makes the device and the sockets of a gateway. Called in a fresh network namespace by who may configure it; never
/// in one that is shared with others, whose addresses it would change.
pub fn open_in_namespace(ports: &[u16], literals: &[IpAddr]) -> io::Result<Sockets> {
    if ports.len() > PORTS_MAX || literals.len() > LITERALS_MAX {
        let reason = format!("more than {PORTS_MAX} ports or {LITERALS_MAX} addresses are declared");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
    }
    let device = rustix::net::socket_with(AddressFamily::INET, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
    // IFF_UP and IFF_RUNNING.
    set::<SET_FLAGS>(&device, "lo", &0x41_u16.to_ne_bytes())?;
    let mut aliases = vec![(RESOLVER, STAND_INS_LENGTH)];
    for literal in literals {
        match literal {
            IpAddr::V4(every) if every.is_unspecified() => aliases.extend(every_address()),
            IpAddr::V4(four) if !four.is_loopback() => aliases.push((*four, 32)),
            IpAddr::V4(_) | IpAddr::V6(_) => {}
        }
    }
    for (number, (address, length)) in aliases.into_iter().enumerate() {
        let name = format!("lo:{}", number + 1);
        set::<SET_ADDRESS>(&device, &name, &socket_address(address))?;
        let mask = Ipv4Addr::from_bits(u32::MAX.checked_shl(32 - length).unwrap_or(0));
        set::<SET_MASK>(&device, &name, &socket_address(mask))?;
    }
    let dns = UdpSocket::bind((RESOLVER, 53))?;
    let mut listeners = Vec::new();
    for port in ports {
        listeners.push(listener(SocketAddr::from((Ipv4Addr::UNSPECIFIED, *port)))?);
    }
    let six = literals.iter().filter_map(|literal| match literal {
        IpAddr::V6(six) => Some(*six),
        IpAddr::V4(_) => None,
    });
    listeners.extend(listeners_v6(ports, &six.collect::<Vec<_>>())?);
    Ok(Sockets { dns, listeners })
}

/// Prefixes that are all addresses but 0.0.0.0/8, which the kernel makes no route for.
fn every_address() -> impl Iterator<Item = (Ipv4Addr, u32)> {
    (1..=8).map(|length| (Ipv4Addr::from_bits((1 << (32 - length)) | 1), length))
}

/// Listeners for declared IPv6 addresses. A system without IPv6 has none: a program there cannot even try.
fn listeners_v6(ports: &[u16], literals: &[Ipv6Addr]) -> io::Result<Vec<TcpListener>> {
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
        let request = RequestV6 { address: literal.octets(), length: 128, index };
        // SAFETY: the number is SIOCSIFADDR, which on a socket of IPv6 reads one `in6_ifreq`: 16 bytes of address,
        // the length of the prefix and the index of the device, as laid out in `RequestV6`. It writes nothing.
        unsafe { ioctl(&device, Setter::<SET_ADDRESS, RequestV6>::new(request)) }?;
    }
    ports.iter().map(|port| listener(SocketAddr::from((Ipv6Addr::UNSPECIFIED, *port)))).collect()
}

/// Not by `std`, which lets only 128 connections wait.
fn listener(address: SocketAddr) -> io::Result<TcpListener> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = rustix::net::socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    if address.is_ipv6() {
        sockopt::set_ipv6_v6only(&socket, true)?;
    }
    rustix::net::bind(&socket, &address)?;
    rustix::net::listen(&socket, BACKLOG)?;
    Ok(TcpListener::from(socket))
}

/// `struct ifreq`: a name and a value of which each request reads its part.
#[repr(C)]
struct Request {
    name: [u8; 16],
    value: [u8; 24],
}

/// `struct in6_ifreq`.
#[repr(C)]
struct RequestV6 {
    address: [u8; 16],
    length: u32,
    index: u32,
}

fn set<const REQUEST: Opcode>(device: &OwnedFd, name: &str, value: &[u8]) -> io::Result<()> {
    let mut request = Request { name: [0; 16], value: [0; 24] };
    for (to, from) in request.name.iter_mut().zip(name.bytes()) {
        *to = from;
    }
    for (to, from) in request.value.iter_mut().zip(value) {
        *to = *from;
    }
    // SAFETY: every number used here is of a request that reads one `ifreq`, which has 40 bytes: the name of the
    // device and a union that is shorter than `value`. None of them writes.
    unsafe { ioctl(device, Setter::<REQUEST, Request>::new(request)) }?;
    Ok(())
}

/// `struct sockaddr_in` without a port.
fn socket_address(address: Ipv4Addr) -> [u8; 8] {
    let [family, zero] = AddressFamily::INET.as_raw().to_ne_bytes();
    let [a, b, c, d] = address.octets();
    [family, zero, 0, 0, a, b, c, d]
}
