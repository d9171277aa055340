//! Observes the connections that a tool tries, in the init process, to report those that are refused.
//!
//! Without network access, a tool gets a placeholder instead of a socket: an unconnected Unix socket, which cannot be
//! connected or bound. `connect` and sending are refused, and their addresses are reported. Merely creating a socket is
//! not reported. With network access, calls continue, and the kernel and the gateway decide.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::OwnedFd;

use rustix::net::{AddressFamily, SocketFlags, SocketType};

use super::gateway;
use super::kernel::{self, PendingSyscall};
use super::launch_spec::LaunchSpec;

/// The port of name servers.
const DNS_PORT: u16 = 53;

/// The maximum number of messages inspected in one call.
const MESSAGES_MAX: u64 = 4;

/// The size of a message header in memory, and of an entry of `sendmmsg`.
const HEADER_BYTES: u64 = 56;
const ENTRY_BYTES: u64 = 64;

/// The answer to a call.
pub(super) enum SocketAnswer<'a> {
    /// The kernel executes it.
    Continue,
    /// It fails with `EACCES`.
    Refuse,
    /// It succeeds without effect.
    Pretend,
    /// It returns a placeholder.
    HandOut { placeholder: &'a OwnedFd, is_closed_on_exec: bool },
}

/// A refused connection: `connect` with a host and port, or `resolve` with a name.
pub(super) type RefusedConnection = (&'static str, String);

/// Finds the refused connections of a tool.
#[derive(Default)]
pub(super) struct ConnectionObserver {
    stream: Option<Placeholder>,
    datagram: Option<Placeholder>,
}

/// A socket that reaches nothing. All sockets of the tool share it.
struct Placeholder {
    socket: OwnedFd,
    /// What `/proc` calls it.
    name: String,
}

impl Placeholder {
    fn create(kind: SocketType) -> Option<Placeholder> {
        let socket = rustix::net::socket_with(AddressFamily::UNIX, kind, SocketFlags::CLOEXEC, None).ok()?;
        let name = format!("socket:[{}]", rustix::fs::fstat(&socket).ok()?.st_ino);
        Some(Placeholder { socket, name })
    }
}

impl ConnectionObserver {
    /// Decides about a socket call, and returns the refused connections in it.
    pub(super) fn judge_call(
        &mut self,
        spec: &LaunchSpec,
        asked: &PendingSyscall,
    ) -> (SocketAnswer<'_>, Vec<RefusedConnection>) {
        let has_network = !spec.ports.is_empty();
        match asked.call {
            libc::SYS_socket => (self.create_socket(asked), Vec::new()),
            libc::SYS_connect => {
                let address = read_address(asked.pid, asked.arguments[1], asked.arguments[2]);
                if has_network {
                    let refused = address.filter(|address| is_unreachable(spec, *address));
                    return (SocketAnswer::Continue, refused.map(report_address).into_iter().collect());
                }
                // The name follows in the query.
                if address.is_some_and(|address| address.port() == DNS_PORT) && self.is_datagram(asked) {
                    return (SocketAnswer::Pretend, Vec::new());
                }
                let refused = address.filter(|address| address.port() != 0);
                (SocketAnswer::Refuse, refused.map(report_address).into_iter().collect())
            }
            _ => {
                let is_ours = self.is_datagram(asked) || is_placeholder(asked, self.stream.as_ref());
                if !is_ours {
                    return (SocketAnswer::Continue, Vec::new());
                }
                (SocketAnswer::Refuse, list_messages(asked).into_iter().filter_map(report_message).collect())
            }
        }
    }

    fn create_socket(&mut self, asked: &PendingSyscall) -> SocketAnswer<'_> {
        let kind = asked.arguments[1] & 0xf;
        let (place, kind) = if kind == u64::from(libc::SOCK_STREAM.cast_unsigned()) {
            (&mut self.stream, SocketType::STREAM)
        } else {
            (&mut self.datagram, SocketType::SEQPACKET)
        };
        if place.is_none() {
            *place = Placeholder::create(kind);
        }
        match place {
            Some(known) => SocketAnswer::HandOut {
                placeholder: &known.socket,
                is_closed_on_exec: asked.arguments[1] & u64::from(libc::SOCK_CLOEXEC.cast_unsigned()) != 0,
            },
            None => SocketAnswer::Refuse,
        }
    }

    fn is_datagram(&self, asked: &PendingSyscall) -> bool {
        is_placeholder(asked, self.datagram.as_ref())
    }
}

/// Returns whether the first argument of a call is a placeholder.
fn is_placeholder(asked: &PendingSyscall, known: Option<&Placeholder>) -> bool {
    let Some(known) = known else { return false };
    let path = format!("/proc/{}/fd/{}", asked.pid, asked.arguments[0]);
    rustix::fs::readlink(path, Vec::new()).is_ok_and(|name| name.as_bytes() == known.name.as_bytes())
}

/// Whether the kernel refuses a connection in a namespace with a gateway. The gateway reports what reaches it.
fn is_unreachable(spec: &LaunchSpec, address: SocketAddr) -> bool {
    let is_local = match address.ip().to_canonical() {
        IpAddr::V4(four) => {
            four.is_loopback() || four.is_unspecified() || four.octets()[0] == 198 && four.octets()[1] & 0xfe == 18
        }
        IpAddr::V6(six) => six.is_loopback() || six.is_unspecified(),
    };
    let is_declared = spec.literals.contains(&address.ip().to_canonical());
    let is_name_server = address.port() == DNS_PORT && address.ip() == IpAddr::V4(gateway::RESOLVER_ADDRESS);
    let is_served = (is_local || is_declared) && spec.ports.contains(&address.port());
    address.port() != 0 && !is_served && !is_name_server
}

fn report_address(address: SocketAddr) -> RefusedConnection {
    ("connect", SocketAddr::new(address.ip().to_canonical(), address.port()).to_string())
}

/// A message that a tool sends: its address, if it has one, and its first bytes.
type SentMessage = (Option<SocketAddr>, Vec<u8>);

fn report_message((address, bytes): SentMessage) -> Option<RefusedConnection> {
    match address {
        Some(address) if address.port() != DNS_PORT => Some(report_address(address)),
        _ => gateway::parse_question_name(&bytes).map(|name| ("resolve", name)),
    }
}

/// Returns the messages of a call that sends.
fn list_messages(asked: &PendingSyscall) -> Vec<SentMessage> {
    let [_, first, second, _, fifth, sixth] = asked.arguments;
    match asked.call {
        libc::SYS_sendto => {
            vec![(read_address(asked.pid, fifth, sixth), read_bytes(asked.pid, first, second))]
        }
        _ => (0..second.min(MESSAGES_MAX))
            .filter_map(|at| read_message(asked.pid, first.checked_add(at * ENTRY_BYTES)?))
            .collect(),
    }
}

/// Reads a message from its header: the address, its length, the parts and their number.
fn read_message(pid: i32, header: u64) -> Option<SentMessage> {
    let words = read_words(&read_bytes(pid, header, HEADER_BYTES));
    let (name, length, parts) = (*words.first()?, *words.get(1)? & 0xffff_ffff, *words.get(2)?);
    let part = read_words(&read_bytes(pid, parts, 16));
    let bytes = read_bytes(pid, *part.first()?, *part.get(1)?);
    Some((read_address(pid, name, length), bytes))
}

fn read_words(bytes: &[u8]) -> Vec<u64> {
    bytes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)).collect()
}

/// Reads memory of a waiting process, up to the size of a query.
fn read_bytes(pid: i32, address: u64, length: u64) -> Vec<u8> {
    const BYTES_MAX: usize = 512;
    let mut bytes = vec![0; usize::try_from(length).unwrap_or(BYTES_MAX).min(BYTES_MAX)];
    let length = kernel::read_process_memory(pid, address, &mut bytes).unwrap_or(0);
    bytes.truncate(length);
    bytes
}

/// Reads an internet address of a waiting process.
fn read_address(pid: i32, address: u64, length: u64) -> Option<SocketAddr> {
    if address == 0 {
        return None;
    }
    parse_address(&read_bytes(pid, address, length.min(28)))
}

fn parse_address(bytes: &[u8]) -> Option<SocketAddr> {
    let family = i32::from(u16::from_le_bytes(*bytes.first_chunk::<2>()?));
    let port = u16::from_be_bytes(*bytes.get(2..)?.first_chunk::<2>()?);
    let ip = match family {
        libc::AF_INET => IpAddr::V4(Ipv4Addr::from(*bytes.get(4..)?.first_chunk::<4>()?)),
        libc::AF_INET6 => IpAddr::V6(Ipv6Addr::from(*bytes.get(8..)?.first_chunk::<16>()?)),
        _ => return None,
    };
    Some(SocketAddr::new(ip, port))
}
