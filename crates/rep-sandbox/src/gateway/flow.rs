//! One connection: from the client inside to the host it was granted.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use rustix::event::PollFlags;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, sockopt};

use super::hello::{HELLO_BYTES_MAX, Hello};
use super::record::Why;
use super::{BUFFER_BYTES, hello};

/// How long a client may take for its greeting.
const GREETING_TIME: Duration = Duration::from_secs(10);

/// How long a name may take to be resolved.
const LOOKUP_TIME: Duration = Duration::from_secs(20);

/// How long one address may take to answer.
const CONNECT_TIME: Duration = Duration::from_secs(8);

/// How often in a row one connection may copy before others have their turn.
const COPIES_MAX: usize = 8;

/// A connection.
pub(super) struct Flow {
    pub(super) host: String,
    pub(super) port: u16,
    client: TcpStream,
    stage: Stage,
    deadline: Option<Instant>,
    outward: Pipe,
    inward: Pipe,
}

enum Stage {
    /// The client must say whom it means.
    Greeting,
    /// The name must get its addresses.
    Resolving,
    /// An address must answer.
    Connecting { upstream: TcpStream, others: VecDeque<SocketAddr> },
    /// Both ends are there.
    Open { upstream: TcpStream },
}

/// What a connection wants next.
pub(super) enum Next {
    /// To go on.
    Wait,
    /// To have its name resolved.
    Resolve,
    /// To be looked at: this address answered.
    Judge { from: SocketAddr, to: SocketAddr },
    /// To end, as both sides wanted.
    Done,
    /// To end at once, with the reason where it is ours.
    Reset(Option<Why>),
}

impl Flow {
    /// A connection that was accepted, to a host that is granted. It starts with a greeting where one is judged.
    pub(super) fn new(client: TcpStream, host: String, port: u16, is_greeted: bool) -> Flow {
        // Without it, small messages would wait for each other's acknowledgements.
        let _ = client.set_nodelay(true);
        let (stage, time) = if is_greeted { (Stage::Greeting, GREETING_TIME) } else { (Stage::Resolving, LOOKUP_TIME) };
        let deadline = Some(Instant::now() + time);
        Flow { host, port, client, stage, deadline, outward: Pipe::default(), inward: Pipe::default() }
    }

    /// Which sockets are to be watched, and for what. A client nothing is wanted of is watched for leaving, as long as
    /// there is something left it could want; any other socket is left out, or it would be reported as closed again
    /// and again.
    pub(super) fn interests(&self) -> impl Iterator<Item = (&TcpStream, PollFlags)> {
        let nothing = PollFlags::empty();
        let (client, upstream) = match &self.stage {
            Stage::Greeting => (Some(PollFlags::IN), None),
            Stage::Resolving => (None, None),
            Stage::Connecting { upstream, .. } => (None, Some((upstream, PollFlags::OUT))),
            Stage::Open { upstream } => {
                let is_over = self.outward.is_finished && self.inward.is_shut;
                let client = (!is_over).then(|| self.outward.reading() | self.inward.writing());
                (client, Some((upstream, self.inward.reading() | self.outward.writing())))
            }
        };
        let upstream = upstream.filter(|(_, flags)| *flags != nothing);
        client.map(|flags| (&self.client, flags)).into_iter().chain(upstream)
    }

    /// Goes on after a socket became ready.
    pub(super) fn advance(&mut self) -> Next {
        match &mut self.stage {
            Stage::Greeting => self.greet(),
            Stage::Resolving => Next::Wait,
            Stage::Connecting { .. } => self.connected(),
            Stage::Open { upstream } => {
                let outward = self.outward.copy(&self.client, upstream);
                let copied = outward.and_then(|()| self.inward.copy(upstream, &self.client));
                match copied {
                    Ok(()) if self.outward.is_shut && self.inward.is_shut => Next::Done,
                    Ok(()) => Next::Wait,
                    Err(_) => Next::Reset(None),
                }
            }
        }
    }

    /// Says what a time that ran out means.
    pub(super) fn check_time(&mut self, now: Instant) -> Next {
        if self.deadline.is_none_or(|deadline| now < deadline) {
            return Next::Wait;
        }
        match &self.stage {
            Stage::Greeting => Next::Reset(Some(Why::Silent)),
            Stage::Resolving => Next::Reset(Some(Why::Unresolved("no answer in time".to_owned()))),
            Stage::Connecting { .. } => self.try_next(&io::Error::from(ErrorKind::TimedOut)),
            Stage::Open { .. } => Next::Wait,
        }
    }

    /// Connects to the first of these addresses that answers.
    pub(super) fn connect(&mut self, mut addresses: VecDeque<SocketAddr>) -> Next {
        let mut last = io::Error::from(ErrorKind::AddrNotAvailable);
        while let Some(address) = addresses.pop_front() {
            match start_connecting(address) {
                Ok(upstream) => {
                    self.stage = Stage::Connecting { upstream, others: addresses };
                    self.deadline = Some(Instant::now() + CONNECT_TIME);
                    return Next::Wait;
                }
                Err(error) => last = error,
            }
        }
        Next::Reset(Some(Why::Unreachable(last.to_string())))
    }

    /// Opens the connection after its address was judged.
    pub(super) fn open(&mut self) -> Next {
        self.stage = match std::mem::replace(&mut self.stage, Stage::Resolving) {
            Stage::Connecting { upstream, .. } => Stage::Open { upstream },
            other @ (Stage::Greeting | Stage::Resolving | Stage::Open { .. }) => other,
        };
        self.deadline = None;
        // What the client said in its greeting is sent first.
        self.advance()
    }

    /// Ends with a reset on both sides, so that nobody takes it for the end of what was sent.
    pub(super) fn reset(self) {
        reset(self.client);
        match self.stage {
            Stage::Connecting { upstream, .. } | Stage::Open { upstream } => reset(upstream),
            Stage::Greeting | Stage::Resolving => {}
        }
    }

    fn greet(&mut self) -> Next {
        match self.outward.fill(&self.client, HELLO_BYTES_MAX) {
            Ok(()) => {}
            Err(error) if is_later(&error) => return Next::Wait,
            Err(_) => return Next::Reset(None),
        }
        let why = match hello::read(self.outward.bytes()) {
            // The client left, or it will never finish.
            Hello::Unfinished if self.outward.is_finished => Why::NotTls,
            Hello::Unfinished => return Next::Wait,
            Hello::Names(name) if name == self.host => {
                self.stage = Stage::Resolving;
                self.deadline = Some(Instant::now() + LOOKUP_TIME);
                return Next::Resolve;
            }
            Hello::Names(name) => Why::OtherName(name),
            Hello::Nameless => Why::Nameless,
            Hello::Hidden => Why::Hidden,
            Hello::Foreign => Why::NotTls,
        };
        Next::Reset(Some(why))
    }

    fn connected(&mut self) -> Next {
        let Stage::Connecting { upstream, .. } = &self.stage else { return Next::Wait };
        let error = match sockopt::socket_error(upstream) {
            Ok(Ok(())) => match (upstream.local_addr(), upstream.peer_addr()) {
                (Ok(from), Ok(to)) => return Next::Judge { from, to },
                (Err(error), _) | (_, Err(error)) => error,
            },
            Ok(Err(error)) | Err(error) => error.into(),
        };
        self.try_next(&error)
    }

    fn try_next(&mut self, error: &io::Error) -> Next {
        let others = match &mut self.stage {
            Stage::Connecting { others, .. } => std::mem::take(others),
            Stage::Greeting | Stage::Resolving | Stage::Open { .. } => VecDeque::new(),
        };
        if others.is_empty() {
            return Next::Reset(Some(Why::Unreachable(error.to_string())));
        }
        self.connect(others)
    }
}

/// Closes a connection by a reset.
pub(super) fn reset(stream: TcpStream) {
    // Where it fails, the connection is already gone.
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

fn is_later(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

/// One direction. It holds one buffer, and reads again when that is written.
#[derive(Default)]
struct Pipe {
    buffer: Vec<u8>,
    written: usize,
    /// The reading end said that nothing follows.
    is_finished: bool,
    /// The writing end was told.
    is_shut: bool,
}

impl Pipe {
    fn bytes(&self) -> &[u8] {
        &self.buffer[self.written..]
    }

    fn reading(&self) -> PollFlags {
        if self.bytes().is_empty() && !self.is_finished { PollFlags::IN } else { PollFlags::empty() }
    }

    fn writing(&self) -> PollFlags {
        if self.bytes().is_empty() { PollFlags::empty() } else { PollFlags::OUT }
    }

    /// Reads once, behind what is there, as long as that is less than a bound.
    fn fill(&mut self, mut from: &TcpStream, bytes_max: usize) -> io::Result<()> {
        let kept = self.buffer.len();
        self.buffer.resize(kept.max(bytes_max), 0);
        let read = from.read(&mut self.buffer[kept..]);
        self.buffer.truncate(kept + read.as_ref().copied().unwrap_or(0));
        if read? == 0 && kept < bytes_max {
            self.is_finished = true;
        }
        Ok(())
    }

    fn copy(&mut self, from: &TcpStream, mut to: &TcpStream) -> io::Result<()> {
        for _ in 0..COPIES_MAX {
            if self.bytes().is_empty() && !self.is_finished {
                self.buffer.clear();
                self.written = 0;
                match self.fill(from, BUFFER_BYTES) {
                    Err(error) if is_later(&error) => return Ok(()),
                    filled => filled?,
                }
            }
            while !self.bytes().is_empty() {
                match to.write(&self.buffer[self.written..]) {
                    Ok(0) => return Err(io::Error::from(ErrorKind::WriteZero)),
                    Ok(count) => self.written += count,
                    Err(error) if is_later(&error) => return Ok(()),
                    Err(error) => return Err(error),
                }
            }
            if self.is_finished {
                if !self.is_shut {
                    self.is_shut = true;
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
