//! The network of a run: none, or the declared hosts and ports. Works for programs without proxy support.
//!
//! A run has a separate network namespace that contains only `lo`. [`open_in_namespace`] creates the sockets there, and
//! [`start_gateway`] serves them from the host side. A declared name resolves to a synthetic address in 198.18.0.0/15,
//! which is routed to the gateway. The gateway checks each connection and then opens a new one on the host.
//!
//! ```text
//!  program ── resolve api.example.com ──▶ UDP 198.18.0.1:53 ──▶ declared? 198.18.0.2 : NXDOMAIN
//!  program ── connect 198.18.0.2:443 ──▶ TCP 0.0.0.0:443 ──▶ which name? declared on 443? does SNI match?
//!                                                             └─▶ resolve ─▶ public address? ─▶ connect, copy
//! ```
//!
//! # Guarantees
//!
//! - Only TCP leaves a run, only on declared ports, and only to declared addresses or to addresses that a declared name
//!   resolved to when the connection was made. The gateway connects to the same address that it checked.
//! - A declared name never gives access to this machine, its networks, or cloud metadata (the IANA special-purpose
//!   ranges, their IPv6 forms, and every address of this machine), unless that address is declared with that port. `*`
//!   means every public host and excludes private ones.
//! - The gateway does not look up undeclared names, so their queries never leave the sandbox.
//! - On port 443, the TLS client hello must name the host that was connected to. The gateway resets connections with no
//!   name, a different name, an encrypted name (ECH) or no TLS. For declared addresses, it checks the address instead.
//! - Every refusal on a listening port is recorded. Listening ports are the declared ports, 80 and 443.
//! - Connections, buffered bytes, names, packets, client hellos, records, and the times to greet, resolve and connect
//!   are all bounded. An open connection may be idle until the time limit of the run.
//! - After [`Gateway::stop`], no socket and no thread remains, except for a lookup in the system's resolver. It cannot
//!   be interrupted, holds no data of the run, and ends when the resolver gives up.
//!
//! # Limitations
//!
//! - The gateway does not control what a host does with the data it receives. A server with many names lets a client
//!   request another name inside the encrypted connection. Declaring a name grants access to the machines behind it.
//! - The gateway does not inspect content. It decrypts nothing, and reads nothing on ports other than 443.
//! - Connections to other ports and to addresses without a route fail in the kernel (`ECONNREFUSED`, `ENETUNREACH`) and
//!   are not recorded here. The init process of the sandbox reports them.
//! - UDP, and therefore QUIC, is not supported; clients fall back to TCP. ICMP is not supported. IPv6 addresses work
//!   only as declared literals. Names that have only IPv6 addresses work, because the connection is made on the host.
//! - The host's proxy settings are ignored. The gateway connects directly.

use std::io;
use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use parking_lot::Mutex;

use super::{Cancel, Denial};
use event_loop::GatewayLoop;
use lookup::PendingLookups;
use refusals::RefusalLog;
use rep_permissions::HostRule;
use rep_permissions::resolver::HostResolver;

mod client_hello;
mod dns;
mod event_loop;
mod flow;
#[doc(hidden)]
pub mod fuzzing;
mod lookup;
mod namespace;
mod refusals;
mod synthetic_addresses;
mod waker;

pub use namespace::{GatewayNeeds, GatewaySockets, open_in_namespace};
pub use refusals::{ConnectionRefusal, RefusalReason};

/// The address of the DNS server in the sandbox, for its `resolv.conf`. Synthetic addresses follow it.
pub const RESOLVER_ADDRESS: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 1);

/// The prefix length of the synthetic addresses.
const SYNTHETIC_PREFIX_LENGTH: u32 = 15;

/// The maximum number of concurrent connections. Each uses two sockets, and many processes may open only 1024.
const CONNECTIONS_MAX: usize = 256;

/// The maximum number of buffered bytes per direction of a connection.
const BUFFER_BYTES: usize = 64 * 1024;

/// The host side of a run's network while it is served.
pub struct Gateway {
    is_stopped: Arc<AtomicBool>,
    waker: Arc<OwnedFd>,
    record: Arc<Mutex<RefusalLog>>,
    thread: Option<JoinHandle<()>>,
}

/// Serves the declared hosts on the sockets of a namespace, until the gateway is stopped or the run is cancelled.
pub fn start_gateway(
    sockets: GatewaySockets,
    rules: &[HostRule],
    cancel: Cancel,
    resolver: HostResolver,
) -> io::Result<Gateway> {
    let GatewaySockets { dns, listeners } = sockets;
    dns.set_nonblocking(true)?;
    for listener in &listeners {
        listener.set_nonblocking(true)?;
    }
    let bell = Arc::new(waker::create_waker()?);
    let is_over = Arc::new(AtomicBool::new(false));
    let record = Arc::new(Mutex::new(RefusalLog::default()));
    let exchange = GatewayLoop {
        rules: rules.to_vec(),
        dns,
        listeners,
        record: record.clone(),
        lookups: PendingLookups::new(resolver, bell.clone()),
        waker: bell.clone(),
        is_stopped: is_over.clone(),
        cancel,
        names: synthetic_addresses::SyntheticAddresses::default(),
        flows: std::collections::BTreeMap::new(),
        next_flow: 0,
        paused_until: None,
    };
    let thread = std::thread::Builder::new().name("rep-gateway".to_owned()).spawn(move || exchange.run())?;
    Ok(Gateway { is_stopped: is_over, waker: bell, record, thread: Some(thread) })
}

/// Returns the name in a DNS query, unless it is a reverse lookup.
pub(crate) fn parse_question_name(packet: &[u8]) -> Option<String> {
    match dns::parse_packet(packet) {
        dns::DnsPacket::Question(question) if !question.is_reverse => Some(question.name),
        _ => None,
    }
}

impl Gateway {
    /// Returns the name that a synthetic address was assigned to.
    pub(crate) fn find_name(&self, address: Ipv4Addr) -> Option<String> {
        self.record.lock().find_name(address)
    }

    /// Returns the denials so far.
    pub fn denials(&self) -> Vec<Denial> {
        self.refusals().iter().filter(|refusal| refusal.is_denial()).map(ConnectionRefusal::to_denial).collect()
    }

    /// Returns every connection that was not established so far, with the reason. Includes network failures.
    pub fn refusals(&self) -> Vec<ConnectionRefusal> {
        self.record.lock().refusals().to_vec()
    }

    /// Ends every connection and closes every socket. Calling it again has no effect. Recorded refusals remain
    /// available.
    pub fn stop(&mut self) {
        self.is_stopped.store(true, Ordering::SeqCst);
        waker::wake_loop(&self.waker);
        // If the loop panicked, unwinding has closed its sockets.
        drop(self.thread.take().map(JoinHandle::join));
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.stop();
    }
}
