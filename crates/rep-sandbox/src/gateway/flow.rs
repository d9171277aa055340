//! A single connection from a client in the sandbox to a granted host.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, sockopt};

use super::client_hello::{ClientHello, HELLO_BYTES_MAX};
use super::refusals::RefusalReason;
use super::{BUFFER_BYTES, client_hello};

/// The time limit for receiving the client hello.
const GREETING_TIMEOUT: Duration = Duration::from_secs(10);

/// The time limit for resolving a name.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(20);

/// The time limit for connecting to one address.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(8);

/// The maximum number of consecutive copies before other connections get a turn.
const COPIES_MAX: usize = 8;

/// A connection.
pub(super) struct NetworkFlow {
    pub(super) host: String,
    pub(super) port: u16,
    client: TcpStream,
    stage: FlowStage,
    deadline: Option<Instant>,
    outward: RelayBuffer,
    inward: RelayBuffer,
}

enum FlowStage {
    /// Waiting for the client hello.
    Greeting,
    /// Waiting for the addresses of the name.
    Resolving,
    /// Connecting to an address.
    Connecting { upstream: TcpStream, others: VecDeque<SocketAddr> },
    /// Relaying between both ends.
    Open { upstream: TcpStream },
}

/// The next action of a connection.
pub(super) enum FlowAction {
    /// Wait for the next event.
    Wait,
    /// Resolve the name.
    Resolve,
    /// Check the address that was connected to.
    CheckAddress { from: SocketAddr, to: SocketAddr },
    /// Close the connection normally.
    Close,
    /// Reset the connection, with the reason if the gateway refused it.
    Reset(Option<RefusalReason>),
}

impl NetworkFlow {
    /// Creates the flow of an accepted connection to a granted host. It starts with a client hello if one is checked.
    pub(super) fn new(client: TcpStream, host: String, port: u16, is_greeted: bool) -> NetworkFlow {
        // Otherwise small messages would wait for acknowledgements.
        let _ = client.set_nodelay(true);
        let (stage, time) =
            if is_greeted { (FlowStage::Greeting, GREETING_TIMEOUT) } else { (FlowStage::Resolving, LOOKUP_TIMEOUT) };
        let deadline = Some(Instant::now() + time);
        NetworkFlow {
            host,
            port,
            client,
            stage,
            deadline,
            outward: RelayBuffer::default(),
            inward: RelayBuffer::default(),
        }
    }

    /// Returns the sockets to poll and the events to poll for. A client without pending reads or writes is polled for
    /// disconnection as long as the flow can still transfer data. Other idle sockets are left out, because they would
    /// be reported as closed again and again.
    pub(super) fn poll_interests(&self) -> impl Iterator<Item = (&TcpStream, PollFlags)> {
        let nothing = PollFlags::empty();
        let (client, upstream) = match &self.stage {
            FlowStage::Greeting => (Some(PollFlags::IN), None),
            FlowStage::Resolving => (None, None),
            FlowStage::Connecting { upstream, .. } => (None, Some((upstream, PollFlags::OUT))),
            FlowStage::Open { upstream } => {
                let is_over = self.outward.is_finished && self.inward.is_shut_down;
                let client = (!is_over).then(|| self.outward.read_interest() | self.inward.write_interest());
                (client, Some((upstream, self.inward.read_interest() | self.outward.write_interest())))
            }
        };
        let upstream = upstream.filter(|(_, flags)| *flags != nothing);
        client.map(|flags| (&self.client, flags)).into_iter().chain(upstream)
    }

    /// Continues after a socket became ready.
    pub(super) fn advance_stage(&mut self) -> FlowAction {
        match &mut self.stage {
            FlowStage::Greeting => self.read_client_hello(),
            FlowStage::Resolving => FlowAction::Wait,
            FlowStage::Connecting { .. } => self.finish_connecting(),
            FlowStage::Open { upstream } => {
                let outward = self.outward.relay_bytes(&self.client, upstream);
                let copied = outward.and_then(|()| self.inward.relay_bytes(upstream, &self.client));
                match copied {
                    Ok(()) if self.outward.is_shut_down && self.inward.is_shut_down => FlowAction::Close,
                    Ok(()) => FlowAction::Wait,
                    Err(_) => FlowAction::Reset(None),
                }
            }
        }
    }

    /// Returns the action that follows from an expired deadline.
    pub(super) fn check_deadline(&mut self, now: Instant) -> FlowAction {
        if self.deadline.is_none_or(|deadline| now < deadline) {
            return FlowAction::Wait;
        }
        match &self.stage {
            FlowStage::Greeting => FlowAction::Reset(Some(RefusalReason::GreetingTimeout)),
            FlowStage::Resolving => FlowAction::Reset(Some(RefusalReason::Unresolved("lookup timed out".to_owned()))),
            FlowStage::Connecting { .. } => self.try_next_address(&io::Error::from(ErrorKind::TimedOut)),
            FlowStage::Open { .. } => FlowAction::Wait,
        }
    }

    /// Connects to the first of these addresses that responds.
    pub(super) fn connect_to_first(&mut self, mut addresses: VecDeque<SocketAddr>) -> FlowAction {
        let mut last = io::Error::from(ErrorKind::AddrNotAvailable);
        while let Some(address) = addresses.pop_front() {
            match start_connecting(address) {
                Ok(upstream) => {
                    self.stage = FlowStage::Connecting { upstream, others: addresses };
                    self.deadline = Some(Instant::now() + CONNECT_TIMEOUT);
                    return FlowAction::Wait;
                }
                Err(error) => last = error,
            }
        }
        FlowAction::Reset(Some(RefusalReason::Unreachable(last.to_string())))
    }

    /// Starts relaying after the address was checked.
    pub(super) fn start_relaying(&mut self) -> FlowAction {
        self.stage = match std::mem::replace(&mut self.stage, FlowStage::Resolving) {
            FlowStage::Connecting { upstream, .. } => FlowStage::Open { upstream },
            other @ (FlowStage::Greeting | FlowStage::Resolving | FlowStage::Open { .. }) => other,
        };
        self.deadline = None;
        // Forward the client hello first.
        self.advance_stage()
    }

    /// Resets both sides, so that neither mistakes the end for the regular end of the data.
    pub(super) fn reset_both_sides(self) {
        reset_connection(self.client);
        match self.stage {
            FlowStage::Connecting { upstream, .. } | FlowStage::Open { upstream } => reset_connection(upstream),
            FlowStage::Greeting | FlowStage::Resolving => {}
        }
    }

    fn read_client_hello(&mut self) -> FlowAction {
        match self.outward.fill_buffer(&self.client, HELLO_BYTES_MAX) {
            Ok(()) => {}
            Err(error) if is_retryable(&error) => return FlowAction::Wait,
            Err(_) => return FlowAction::Reset(None),
        }
        let why = match client_hello::parse_client_hello(self.outward.pending_bytes()) {
            // The client disconnected, so the hello will never be complete.
            ClientHello::Incomplete if self.outward.is_finished => RefusalReason::NotTls,
            ClientHello::Incomplete => return FlowAction::Wait,
            ClientHello::ServerName(name) if name == self.host => {
                self.stage = FlowStage::Resolving;
                self.deadline = Some(Instant::now() + LOOKUP_TIMEOUT);
                return FlowAction::Resolve;
            }
            ClientHello::ServerName(name) => RefusalReason::ServerNameMismatch(name),
            ClientHello::NoServerName => RefusalReason::NoServerName,
            ClientHello::EncryptedServerName => RefusalReason::EncryptedServerName,
            ClientHello::NotTls => RefusalReason::NotTls,
        };
        FlowAction::Reset(Some(why))
    }

    fn finish_connecting(&mut self) -> FlowAction {
        let FlowStage::Connecting { upstream, .. } = &self.stage else { return FlowAction::Wait };
        let error = match sockopt::socket_error(upstream) {
            Ok(Ok(())) => match (upstream.local_addr(), upstream.peer_addr()) {
                (Ok(from), Ok(to)) => return FlowAction::CheckAddress { from, to },
                (Err(error), _) | (_, Err(error)) => error,
            },
            Ok(Err(error)) | Err(error) => error.into(),
        };
        self.try_next_address(&error)
    }

    fn try_next_address(&mut self, error: &io::Error) -> FlowAction {
        let others = match &mut self.stage {
            FlowStage::Connecting { others, .. } => std::mem::take(others),
            FlowStage::Greeting | FlowStage::Resolving | FlowStage::Open { .. } => VecDeque::new(),
        };
        if others.is_empty() {
            return FlowAction::Reset(Some(RefusalReason::Unreachable(error.to_string())));
        }
        self.connect_to_first(others)
    }
}

/// Closes a connection with a reset.
pub(super) fn reset_connection(stream: TcpStream) {
    // An error means that the connection is already closed.
    let _ = sockopt::set_socket_linger(&stream, Some(Duration::ZERO));
    drop(stream);
}

fn start_connecting(address: SocketAddr) -> io::Result<TcpStream> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(family, SocketType::STREAM, flags, None)?;
    match rustix::net::connect(&socket, &address) {
        Ok(()) | Err(Errno::INPROGRESS) => {}
        Err(error) => return Err(error.into()),
    }
    let stream = TcpStream::from(socket);
    stream.set_nodelay(true)?;
    Ok(stream)
}

fn is_retryable(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

/// One direction of a connection, with one buffer that is refilled after it was written.
#[derive(Default)]
struct RelayBuffer {
    buffer: Vec<u8>,
    written: usize,
    /// Whether the reading end has reached the end of the data.
    is_finished: bool,
    /// Whether the writing end was shut down.
    is_shut_down: bool,
}

impl RelayBuffer {
    fn pending_bytes(&self) -> &[u8] {
        &self.buffer[self.written..]
    }

    fn read_interest(&self) -> PollFlags {
        if self.pending_bytes().is_empty() && !self.is_finished { PollFlags::IN } else { PollFlags::empty() }
    }

    fn write_interest(&self) -> PollFlags {
        if self.pending_bytes().is_empty() { PollFlags::empty() } else { PollFlags::OUT }
    }

    /// Reads once and appends to the buffer, unless it has reached the limit.
    fn fill_buffer(&mut self, mut from: &TcpStream, bytes_max: usize) -> io::Result<()> {
        let kept = self.buffer.len();
        self.buffer.resize(kept.max(bytes_max), 0);
        let read = from.read(&mut self.buffer[kept..]);
        self.buffer.truncate(kept + read.as_ref().copied().unwrap_or(0));
        if read? == 0 && kept < bytes_max {
            self.is_finished = true;
        }
        Ok(())
    }

    fn relay_bytes(&mut self, from: &TcpStream, mut to: &TcpStream) -> io::Result<()> {
        for _ in 0..COPIES_MAX {
            if self.pending_bytes().is_empty() && !self.is_finished {
                self.buffer.clear();
                self.written = 0;
                match self.fill_buffer(from, BUFFER_BYTES) {
                    Err(error) if is_retryable(&error) => return Ok(()),
                    filled => filled?,
                }
            }
            while !self.pending_bytes().is_empty() {
                match to.write(&self.buffer[self.written..]) {
                    Ok(0) => return Err(io::Error::from(ErrorKind::WriteZero)),
                    Ok(count) => self.written += count,
                    Err(error) if is_retryable(&error) => return Ok(()),
                    Err(error) => return Err(error),
                }
            }
            if self.is_finished {
                if !self.is_shut_down {
                    self.is_shut_down = true;
                    self.buffer = Vec::new();
                    self.written = 0;
                    to.shutdown(Shutdown::Write)?;
                }
                return Ok(());
            }
        }
        Ok(())
    }
}
