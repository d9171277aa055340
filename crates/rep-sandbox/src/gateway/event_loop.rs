//! The event loop of a gateway: a single thread that polls all sockets of a run and never blocks on one of them.

use std::collections::{BTreeMap, VecDeque};
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::flow::{self, FlowAction, NetworkFlow};
use super::lookup::PendingLookups;
use super::refusals::{RefusalLog, RefusalReason, format_target};
use super::synthetic_addresses::SyntheticAddresses;
use super::{CONNECTIONS_MAX, RESOLVER_ADDRESS, SYNTHETIC_PREFIX_LENGTH, dns, waker};
use crate::Cancel;
use rep_permissions::{HostRule, canonicalise_host_name, is_public_address};

/// The maximum wait, so that expired deadlines and cancellation are noticed.
const POLL_TIMEOUT: Timespec = Timespec { tv_sec: 0, tv_nsec: 200_000_000 };

/// How long accepting pauses after the system failed to provide another socket.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// The maximum number of queries or connections handled per socket and turn.
const BATCH_MAX: usize = 64;

/// The maximum number of addresses tried per name.
const ADDRESSES_MAX: usize = 6;

/// The port on which client hellos are checked.
const PORT_HTTPS: u16 = 443;

/// The state of a gateway.
pub(super) struct GatewayLoop {
    pub(super) rules: Vec<HostRule>,
    pub(super) dns: UdpSocket,
    pub(super) listeners: Vec<TcpListener>,
    pub(super) record: Arc<Mutex<RefusalLog>>,
    pub(super) lookups: PendingLookups,
    pub(super) waker: Arc<OwnedFd>,
    pub(super) is_stopped: Arc<AtomicBool>,
    pub(super) cancel: Cancel,
    pub(super) names: SyntheticAddresses,
    pub(super) flows: BTreeMap<u64, NetworkFlow>,
    pub(super) next_flow: u64,
    pub(super) paused_until: Option<Instant>,
}

/// A socket that is polled.
#[derive(Clone, Copy)]
enum WatchedSocket {
    Waker,
    Dns,
    Listener(usize),
    Flow(u64),
    /// A client without pending reads or writes, polled only to notice that it disconnects.
    IdleClient(u64),
}

/// The destination of an accepted connection.
enum FlowDestination {
    /// The public addresses that this name resolves to.
    Name(String),
    /// These declared addresses.
    Addresses(String, Vec<IpAddr>),
    /// Refused.
    Refused(String),
}

impl GatewayLoop {
    /// Serves until the gateway is stopped.
    pub(super) fn run(mut self) {
        while !self.is_stopped.load(Ordering::SeqCst) && !self.cancel.is_cancelled() {
            for watched in self.wait_for_ready() {
                match watched {
                    WatchedSocket::Waker => waker::clear_wakeup(&self.waker),
                    WatchedSocket::Dns => self.answer_dns_questions(),
                    WatchedSocket::Listener(index) => self.accept_connections(index),
                    WatchedSocket::IdleClient(id) => self.perform_action(id, FlowAction::Reset(None)),
                    WatchedSocket::Flow(id) => {
                        let next = self.flows.get_mut(&id).map_or(FlowAction::Wait, NetworkFlow::advance_stage);
                        self.perform_action(id, next);
                    }
                }
            }
            for (waiters, found) in self.lookups.take_finished() {
                for id in waiters {
                    self.continue_with_addresses(id, found.as_deref());
                }
            }
            self.check_deadlines();
        }
        self.lookups.shut_down();
    }

    /// Returns the sockets that are ready, with each flow at most once.
    fn wait_for_ready(&self) -> Vec<WatchedSocket> {
        let mut watched = vec![WatchedSocket::Waker, WatchedSocket::Dns];
        let mut polled = vec![PollFd::new(&*self.waker, PollFlags::IN), PollFd::new(&self.dns, PollFlags::IN)];
        if self.paused_until.is_none_or(|until| until <= Instant::now()) {
            for (index, listener) in self.listeners.iter().enumerate() {
                watched.push(WatchedSocket::Listener(index));
                polled.push(PollFd::new(listener, PollFlags::IN));
            }
        }
        for (id, flow) in &self.flows {
            for (socket, flags) in flow.poll_interests() {
                watched.push(if flags.is_empty() { WatchedSocket::IdleClient(*id) } else { WatchedSocket::Flow(*id) });
                polled.push(PollFd::new(socket, flags));
            }
        }
        if poll(&mut polled, Some(&POLL_TIMEOUT)).is_err() {
            // Only a signal interrupts the wait; the next turn polls again.
            return Vec::new();
        }
        let ready = watched.into_iter().zip(&polled).filter(|(_, polled)| !polled.revents().is_empty());
        let mut ready: Vec<WatchedSocket> = ready.map(|(watched, _)| watched).collect();
        ready.dedup_by(|a, b| matches!((a, b), (WatchedSocket::Flow(a), WatchedSocket::Flow(b)) if a == b));
        ready
    }

    fn answer_dns_questions(&mut self) {
        // One extra byte reveals packets that are too long.
        let mut buffer = [0; dns::PACKET_BYTES_MAX + 1];
        for _ in 0..BATCH_MAX {
            let Ok((length, from)) = self.dns.recv_from(&mut buffer) else { return };
            let answer = match dns::parse_packet(&buffer[..length]) {
                dns::DnsPacket::Question(question) => {
                    let reply = self.resolve_question(&question);
                    dns::encode_answer(&question, reply)
                }
                dns::DnsPacket::Rejected(answer) => answer,
                dns::DnsPacket::Ignored => continue,
            };
            // A client that misses an answer repeats its query.
            let _ = self.dns.send_to(&answer, from);
        }
    }

    fn resolve_question(&mut self, question: &dns::DnsQuestion) -> dns::DnsReply {
        let name =
            canonicalise_host_name(&question.name).filter(|name| self.rules.iter().any(|rule| rule.matches_host(name)));
        let Some(name) = name else {
            // Resolvers query the root to find a server. It is not the name of a host.
            if !question.is_reverse && !question.name.is_empty() {
                self.record_refusal(question.name.clone(), RefusalReason::NameNotDeclared);
            }
            return dns::DnsReply::Unknown;
        };
        if !question.wants_address {
            return dns::DnsReply::Exists(None);
        }
        if name == "localhost" {
            return dns::DnsReply::Exists(Some(Ipv4Addr::LOCALHOST));
        }
        let Some(address) = self.names.assign_address(&name) else {
            self.record_refusal(name, RefusalReason::TooManyNames);
            return dns::DnsReply::Exhausted;
        };
        self.record.lock().add_name(address, name);
        dns::DnsReply::Exists(Some(address))
    }

    fn accept_connections(&mut self, index: usize) {
        for _ in 0..BATCH_MAX {
            let Some(listener) = self.listeners.get(index) else { return };
            let stream = match listener.accept() {
                Ok((stream, _)) => stream,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                // The client disconnected before it was accepted; others may be waiting.
                Err(error) if error.kind() == ErrorKind::ConnectionAborted => continue,
                Err(_) => {
                    self.paused_until = Some(Instant::now() + ACCEPT_PAUSE);
                    return;
                }
            };
            let (Ok(()), Ok(local)) = (stream.set_nonblocking(true), stream.local_addr()) else { continue };
            self.admit_connection(stream, local);
        }
    }

    /// Accepts or refuses a connection by its destination address.
    fn admit_connection(&mut self, stream: TcpStream, local: SocketAddr) {
        let port = local.port();
        let (host, addresses) = match self.find_destination(local.ip(), port) {
            FlowDestination::Refused(host) => {
                return self.refuse_connection(stream, &host, port, RefusalReason::NotDeclared);
            }
            FlowDestination::Name(name) => (name, None),
            FlowDestination::Addresses(host, addresses) => (host, Some(addresses)),
        };
        if self.flows.len() >= CONNECTIONS_MAX {
            return self.refuse_connection(stream, &host, port, RefusalReason::TooManyConnections);
        }
        let id = self.next_flow;
        self.next_flow += 1;
        let is_greeted = port == PORT_HTTPS && addresses.is_none();
        let mut flow = NetworkFlow::new(stream, host, port, is_greeted);
        let next = match addresses {
            Some(addresses) => {
                flow.connect_to_first(addresses.into_iter().map(|ip| SocketAddr::new(ip, port)).collect())
            }
            None if is_greeted => FlowAction::Wait,
            None => FlowAction::Resolve,
        };
        self.flows.insert(id, flow);
        self.perform_action(id, next);
    }

    fn find_destination(&self, address: IpAddr, port: u16) -> FlowDestination {
        let text = address.to_string();
        let is_stand_in = matches!(address, IpAddr::V4(four)
            if (four.to_bits() ^ RESOLVER_ADDRESS.to_bits()).leading_zeros() >= SYNTHETIC_PREFIX_LENGTH);
        if let (true, IpAddr::V4(four)) = (is_stand_in, address) {
            return match self.names.find_name(four) {
                Some(name) if self.is_declared(name, port) => FlowDestination::Name(name.to_owned()),
                name => FlowDestination::Refused(name.map_or(text, str::to_owned)),
            };
        }
        if self.is_declared(&text, port) {
            return FlowDestination::Addresses(text, vec![address]);
        }
        let is_home = address == Ipv4Addr::LOCALHOST || address == Ipv6Addr::LOCALHOST;
        if is_home && self.is_declared_explicitly("localhost", port) {
            let both = vec![IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
            return FlowDestination::Addresses("localhost".to_owned(), both);
        }
        FlowDestination::Refused(text)
    }

    fn is_declared(&self, host: &str, port: u16) -> bool {
        self.rules.iter().any(|rule| rule.matches(host, port))
    }

    /// Whether a rule other than `*` declares this host.
    fn is_declared_explicitly(&self, host: &str, port: u16) -> bool {
        self.rules.iter().any(|rule| !rule.is_any_host() && rule.matches(host, port))
    }

    /// Whether a name may resolve to this address: it must be public or declared itself.
    fn is_allowed_address(&self, address: SocketAddr) -> bool {
        is_public_address(address.ip()) || self.is_declared_explicitly(&address.ip().to_string(), address.port())
    }

    fn continue_with_addresses(&mut self, id: u64, found: Result<&[SocketAddr], &std::io::Error>) {
        if !self.flows.contains_key(&id) {
            return;
        }
        let refused = |why| FlowAction::Reset(Some(why));
        let next = match found {
            Err(error) => refused(RefusalReason::Unresolved(error.to_string())),
            Ok([]) => refused(RefusalReason::Unresolved("it has no address".to_owned())),
            Ok(found @ [first, ..]) => {
                let open: VecDeque<SocketAddr> = found
                    .iter()
                    .copied()
                    .filter(|address| self.is_allowed_address(*address))
                    .take(ADDRESSES_MAX)
                    .collect();
                match self.flows.get_mut(&id) {
                    Some(flow) if !open.is_empty() => flow.connect_to_first(open),
                    _ => refused(RefusalReason::NotPublic(*first)),
                }
            }
        };
        self.perform_action(id, next);
    }

    /// Performs the next action of a connection.
    fn perform_action(&mut self, id: u64, mut next: FlowAction) {
        loop {
            let Some(flow) = self.flows.get_mut(&id) else { return };
            next = match next {
                FlowAction::Wait => return,
                FlowAction::Resolve => {
                    self.lookups.request_lookup(&flow.host, flow.port, id);
                    return;
                }
                // An address that connects to itself belongs to this machine, even if it is public. Nothing has been
                // sent yet.
                FlowAction::CheckAddress { from, to } => {
                    let is_home = to.ip().is_loopback() && flow.host == "localhost";
                    let is_granted =
                        is_home || from.ip() != to.ip() || self.is_declared_explicitly(&to.ip().to_string(), to.port());
                    match self.flows.get_mut(&id) {
                        Some(flow) if is_granted => flow.start_relaying(),
                        _ => FlowAction::Reset(Some(RefusalReason::NotPublic(to))),
                    }
                }
                FlowAction::Close => {
                    self.flows.remove(&id);
                    return;
                }
                FlowAction::Reset(why) => {
                    let Some(flow) = self.flows.remove(&id) else { return };
                    if let Some(why) = why {
                        self.record_refusal(format_target(&flow.host, flow.port), why);
                    }
                    flow.reset_both_sides();
                    return;
                }
            };
        }
    }

    fn check_deadlines(&mut self) {
        let now = Instant::now();
        let ids: Vec<u64> = self.flows.keys().copied().collect();
        for id in ids {
            let next = self.flows.get_mut(&id).map_or(FlowAction::Wait, |flow| flow.check_deadline(now));
            self.perform_action(id, next);
        }
    }

    fn refuse_connection(&self, stream: TcpStream, host: &str, port: u16, why: RefusalReason) {
        self.record_refusal(format_target(host, port), why);
        flow::reset_connection(stream);
    }

    fn record_refusal(&self, target: String, why: RefusalReason) {
        self.record.lock().add_refusal(target, why);
    }
}
