//! The loop of a gateway: one thread that watches every socket of one run and never waits for any of them.

use std::collections::{BTreeMap, VecDeque};
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::flow::{self, Flow, Next};
use super::lookup::Lookups;
use super::names::Names;
use super::record::{Record, Why, target};
use super::{CONNECTIONS_MAX, RESOLVER, STAND_INS_LENGTH, dns, wake};
use crate::Cancel;
use rep_permissions::{HostRule, canonical, is_public};

/// How long the loop waits at most, so that times that ran out and requests to end are seen.
const TURN: Timespec = Timespec { tv_sec: 0, tv_nsec: 200_000_000 };

/// How long nothing is accepted after the system had no room for another socket.
const PAUSE: Duration = Duration::from_millis(100);

/// How many questions or connections of one socket are taken in one turn.
const BATCH: usize = 64;

/// The most addresses of one name that are tried.
const ADDRESSES_MAX: usize = 6;

/// The port whose greetings are judged.
const PORT_HTTPS: u16 = 443;

/// Everything a gateway has.
pub(super) struct Exchange {
    pub(super) rules: Vec<HostRule>,
    pub(super) dns: UdpSocket,
    pub(super) listeners: Vec<TcpListener>,
    pub(super) record: Arc<Mutex<Record>>,
    pub(super) lookups: Lookups,
    pub(super) bell: Arc<OwnedFd>,
    pub(super) is_over: Arc<AtomicBool>,
    pub(super) cancel: Cancel,
    pub(super) names: Names,
    pub(super) flows: BTreeMap<u64, Flow>,
    pub(super) next_flow: u64,
    pub(super) paused_until: Option<Instant>,
}

/// A socket that is watched.
#[derive(Clone, Copy)]
enum Watched {
    Bell,
    Dns,
    Listener(usize),
    Flow(u64),
    /// A client nothing is wanted of, so that all it can do is leave.
    Leaving(u64),
}

/// Where an accepted connection goes.
enum Destination {
    /// To whatever this name resolves to, as far as that is public.
    Name(String),
    /// To these addresses, which are declared themselves.
    Addresses(String, Vec<IpAddr>),
    /// Nowhere.
    Refused(String),
}

impl Exchange {
    /// Serves until the end is asked for.
    pub(super) fn run(mut self) {
        while !self.is_over.load(Ordering::SeqCst) && !self.cancel.is_cancelled() {
            for watched in self.wait() {
                match watched {
                    Watched::Bell => wake::silence(&self.bell),
                    Watched::Dns => self.answer_questions(),
                    Watched::Listener(index) => self.accept(index),
                    Watched::Leaving(id) => self.go_on(id, Next::Reset(None)),
                    Watched::Flow(id) => {
                        let next = self.flows.get_mut(&id).map_or(Next::Wait, Flow::advance);
                        self.go_on(id, next);
                    }
                }
            }
            for (waiters, found) in self.lookups.finished() {
                for id in waiters {
                    self.resolved(id, found.as_deref());
                }
            }
            self.check_times();
        }
        self.lookups.end();
    }

    /// The sockets that are ready, each flow once.
    fn wait(&self) -> Vec<Watched> {
        let mut watched = vec![Watched::Bell, Watched::Dns];
        let mut polled = vec![PollFd::new(&*self.bell, PollFlags::IN), PollFd::new(&self.dns, PollFlags::IN)];
        if self.paused_until.is_none_or(|until| until <= Instant::now()) {
            for (index, listener) in self.listeners.iter().enumerate() {
                watched.push(Watched::Listener(index));
                polled.push(PollFd::new(listener, PollFlags::IN));
            }
        }
        for (id, flow) in &self.flows {
            for (socket, flags) in flow.interests() {
                watched.push(if flags.is_empty() { Watched::Leaving(*id) } else { Watched::Flow(*id) });
                polled.push(PollFd::new(socket, flags));
            }
        }
        if poll(&mut polled, Some(&TURN)).is_err() {
            // Only a signal interrupts it; the next turn asks again.
            return Vec::new();
        }
        let ready = watched.into_iter().zip(&polled).filter(|(_, polled)| !polled.revents().is_empty());
        let mut ready: Vec<Watched> = ready.map(|(watched, _)| watched).collect();
        ready.dedup_by(|a, b| matches!((a, b), (Watched::Flow(a), Watched::Flow(b)) if a == b));
        ready
    }

    fn answer_questions(&mut self) {
        // One byte more than is read, so that a longer packet is seen to be longer.
        let mut buffer = [0; dns::PACKET_BYTES_MAX + 1];
        for _ in 0..BATCH {
            let Ok((length, from)) = self.dns.recv_from(&mut buffer) else { return };
            let answer = match dns::read(&buffer[..length]) {
                dns::Packet::Question(question) => {
                    let reply = self.reply(&question);
                    dns::write(&question, reply)
                }
                dns::Packet::Wrong(answer) => answer,
                dns::Packet::Noise => continue,
            };
            // A client that takes no answer asks again.
            let _ = self.dns.send_to(&answer, from);
        }
    }

    fn reply(&mut self, question: &dns::Question) -> dns::Reply {
        let name = canonical(&question.name).filter(|name| self.rules.iter().any(|rule| rule.fits_host(name)));
        let Some(name) = name else {
            // The root is asked by resolvers that look for a server; it is nobody's host.
            if !question.is_reverse && !question.name.is_empty() {
                self.refuse(question.name.clone(), Why::NameNotDeclared);
            }
            return dns::Reply::Unknown;
        };
        if !question.wants_address {
            return dns::Reply::Exists(None);
        }
        if name == "localhost" {
            return dns::Reply::Exists(Some(Ipv4Addr::LOCALHOST));
        }
        let Some(address) = self.names.address(&name) else {
            self.refuse(name, Why::TooManyNames);
            return dns::Reply::Exhausted;
        };
        dns::Reply::Exists(Some(address))
    }

    fn accept(&mut self, index: usize) {
        for _ in 0..BATCH {
            let Some(listener) = self.listeners.get(index) else { return };
            let stream = match listener.accept() {
                Ok((stream, _)) => stream,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                // The client was gone before it was taken; others may wait.
                Err(error) if error.kind() == ErrorKind::ConnectionAborted => continue,
                Err(_) => {
                    self.paused_until = Some(Instant::now() + PAUSE);
                    return;
                }
            };
            let (Ok(()), Ok(local)) = (stream.set_nonblocking(true), stream.local_addr()) else { continue };
            self.admit(stream, local);
        }
    }

    /// Decides about a connection by the address it was made to.
    fn admit(&mut self, stream: TcpStream, local: SocketAddr) {
        let port = local.port();
        let (host, addresses) = match self.destination(local.ip(), port) {
            Destination::Refused(host) => return self.turn_away(stream, &host, port, Why::NotDeclared),
            Destination::Name(name) => (name, None),
            Destination::Addresses(host, addresses) => (host, Some(addresses)),
        };
        if self.flows.len() >= CONNECTIONS_MAX {
            return self.turn_away(stream, &host, port, Why::TooMany);
        }
        let id = self.next_flow;
        self.next_flow += 1;
        let is_greeted = port == PORT_HTTPS && addresses.is_none();
        let mut flow = Flow::new(stream, host, port, is_greeted);
        let next = match addresses {
            Some(addresses) => flow.connect(addresses.into_iter().map(|ip| SocketAddr::new(ip, port)).collect()),
            None if is_greeted => Next::Wait,
            None => Next::Resolve,
        };
        self.flows.insert(id, flow);
        self.go_on(id, next);
    }

    fn destination(&self, address: IpAddr, port: u16) -> Destination {
        let text = address.to_string();
        let is_stand_in = matches!(address, IpAddr::V4(four)
            if (four.to_bits() ^ RESOLVER.to_bits()).leading_zeros() >= STAND_INS_LENGTH);
        if let (true, IpAddr::V4(four)) = (is_stand_in, address) {
            return match self.names.name(four) {
                Some(name) if self.is_declared(name, port) => Destination::Name(name.to_owned()),
                name => Destination::Refused(name.map_or(text, str::to_owned)),
            };
        }
        if self.is_declared(&text, port) {
            return Destination::Addresses(text, vec![address]);
        }
        let is_home = address == Ipv4Addr::LOCALHOST || address == Ipv6Addr::LOCALHOST;
        if is_home && self.is_named("localhost", port) {
            let both = vec![IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
            return Destination::Addresses("localhost".to_owned(), both);
        }
        Destination::Refused(text)
    }

    fn is_declared(&self, host: &str, port: u16) -> bool {
        self.rules.iter().any(|rule| rule.fits(host, port))
    }

    /// Whether this host is declared, and not only with all others.
    fn is_named(&self, host: &str, port: u16) -> bool {
        self.rules.iter().any(|rule| !rule.is_any() && rule.fits(host, port))
    }

    /// Whether an address may be connected to for a name: it is public, or declared itself.
    fn is_open(&self, address: SocketAddr) -> bool {
        is_public(address.ip()) || self.is_named(&address.ip().to_string(), address.port())
    }

    fn resolved(&mut self, id: u64, found: Result<&[SocketAddr], &std::io::Error>) {
        if !self.flows.contains_key(&id) {
            return;
        }
        let refused = |why| Next::Reset(Some(why));
        let next = match found {
            Err(error) => refused(Why::Unresolved(error.to_string())),
            Ok([]) => refused(Why::Unresolved("it has no address".to_owned())),
            Ok(found @ [first, ..]) => {
                let open: VecDeque<SocketAddr> =
                    found.iter().copied().filter(|address| self.is_open(*address)).take(ADDRESSES_MAX).collect();
                match self.flows.get_mut(&id) {
                    Some(flow) if !open.is_empty() => flow.connect(open),
                    _ => refused(Why::NotPublic(*first)),
                }
            }
        };
        self.go_on(id, next);
    }

    /// Does what a connection wants next.
    fn go_on(&mut self, id: u64, mut next: Next) {
        loop {
            let Some(flow) = self.flows.get_mut(&id) else { return };
            next = match next {
                Next::Wait => return,
                Next::Resolve => {
                    self.lookups.ask(&flow.host, flow.port, id);
                    return;
                }
                // From an address to itself is to this machine, however public the address is. Nothing was sent yet.
                Next::Judge { from, to } => {
                    let is_home = to.ip().is_loopback() && flow.host == "localhost";
                    let is_granted = is_home || from.ip() != to.ip() || self.is_named(&to.ip().to_string(), to.port());
                    match self.flows.get_mut(&id) {
                        Some(flow) if is_granted => flow.open(),
                        _ => Next::Reset(Some(Why::NotPublic(to))),
                    }
                }
                Next::Done => {
                    self.flows.remove(&id);
                    return;
                }
                Next::Reset(why) => {
                    let Some(flow) = self.flows.remove(&id) else { return };
                    if let Some(why) = why {
                        self.refuse(target(&flow.host, flow.port), why);
                    }
                    flow.reset();
                    return;
                }
            };
        }
    }

    fn check_times(&mut self) {
        let now = Instant::now();
        let ids: Vec<u64> = self.flows.keys().copied().collect();
        for id in ids {
            let next = self.flows.get_mut(&id).map_or(Next::Wait, |flow| flow.check_time(now));
            self.go_on(id, next);
        }
    }

    fn turn_away(&self, stream: TcpStream, host: &str, port: u16, why: Why) {
        self.refuse(target(host, port), why);
        flow::reset(stream);
    }

    fn refuse(&self, target: String, why: Why) {
        self.record.lock().add(target, why);
    }
}
