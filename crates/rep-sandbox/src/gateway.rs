//! The network of a run: none, or the declared hosts and ports, also for programs that know nothing of proxies.
//!
//! A run has a network namespace of its own, with nothing in it but `lo`. [`open_in_namespace`] makes the sockets
//! there, [`serve`] answers on them from the host's side. A name that is declared resolves to a stand-in, an address
//! out of 198.18.0.0/15 that leads back to the gateway; a connection to it is judged, and then made anew on the host.
//!
//! ```text
//!  program ── who is api.example.com? ──▶ UDP 198.18.0.1:53 ──▶ declared? 198.18.0.2 : no such name
//!  program ── connect 198.18.0.2:443 ──▶ TCP 0.0.0.0:443 ──▶ which name? declared on 443? greeting names it?
//!                                                             └─▶ resolve ─▶ public address? ─▶ connect, copy
//! ```
//!
//! # What is guaranteed
//!
//! - Only TCP leaves a run, only on declared ports, only to addresses that a declared name resolved to at the moment
//!   of the connection, or that are declared themselves. The address that was judged is the address connected to.
//! - A declared name never leads to this machine, its networks, or the metadata of a cloud (the special-purpose ranges
//!   of IANA, in their IPv6 forms too, and every address this machine has itself), unless that very address is
//!   declared with that port. `*` is every public host, and no private one.
//! - A name that is not declared is not looked up anywhere: what is asked inside stays inside.
//! - On port 443 the greeting of TLS must ask for the name that was connected to. No name, another name, an encrypted
//!   name (ECH) or no TLS is a reset. Where an address is declared, the address is what is held to, not the greeting.
//! - Every refusal on a port that is listened to is recorded: the declared ports, 80 and 443.
//! - Everything is bounded: connections, bytes under way, names, packets, greetings, records, and times to greet, to
//!   resolve and to connect. A connection that is open may be silent; the time of the run is its bound.
//! - After [`Gateway::stop`] there is no socket and no thread, but for a lookup the system's resolver holds on to: it
//!   cannot be interrupted, has nothing of the run, and ends when the resolver gives up.
//!
//! # What is not
//!
//! - What a host does with what it gets. A server that serves many names lets a client ask for another one inside the
//!   encryption; who declares a name declares the machines behind it.
//! - What is sent. Nothing is decrypted, and on other ports than 443 nothing is read.
//! - Tries on other ports and to addresses without a route fail in the kernel (`ECONNREFUSED`, `ENETUNREACH`), where
//!   no record of them is made.
//! - UDP, so no QUIC; clients fall back to TCP. No ICMP. IPv6 addresses only as declared literals; names with only
//!   IPv6 addresses work, because the host's side makes the connection.
//! - Proxies of the host. The gateway connects directly.

use std::io;
use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use parking_lot::Mutex;

use super::{Cancel, Denial};
use exchange::Exchange;
use lookup::Lookups;
use record::Record;
use rep_permissions::HostRule;
use rep_permissions::resolver::Resolver;

mod dns;
mod exchange;
mod flow;
#[doc(hidden)]
pub mod fuzzing;
mod hello;
mod lookup;
mod names;
mod namespace;
mod record;
mod wake;

pub use namespace::{Needs, Sockets, open_in_namespace};
pub use record::{Refusal, Why};

/// The address names are asked at inside; it belongs into `resolv.conf` there. The stand-ins follow it.
pub const RESOLVER: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 1);

/// The length of the prefix of all stand-ins.
const STAND_INS_LENGTH: u32 = 15;

/// The most connections at a time. Each has two sockets, and a process may often have no more than 1024.
const CONNECTIONS_MAX: usize = 256;

/// How much of each direction of a connection is held at most.
const BUFFER_BYTES: usize = 64 * 1024;

/// The host's side of a run's network, while it serves.
pub struct Gateway {
    is_over: Arc<AtomicBool>,
    bell: Arc<OwnedFd>,
    record: Arc<Mutex<Record>>,
    thread: Option<JoinHandle<()>>,
}

/// Serves the declared hosts on the sockets of a namespace, until it is stopped or the run is cancelled.
pub fn serve(sockets: Sockets, rules: &[HostRule], cancel: Cancel, resolver: Resolver) -> io::Result<Gateway> {
    let Sockets { dns, listeners } = sockets;
    dns.set_nonblocking(true)?;
    for listener in &listeners {
        listener.set_nonblocking(true)?;
    }
    let bell = Arc::new(wake::new()?);
    let is_over = Arc::new(AtomicBool::new(false));
    let record = Arc::new(Mutex::new(Record::default()));
    let exchange = Exchange {
        rules: rules.to_vec(),
        dns,
        listeners,
        record: record.clone(),
        lookups: Lookups::new(resolver, bell.clone()),
        bell: bell.clone(),
        is_over: is_over.clone(),
        cancel,
        names: names::Names::default(),
        flows: std::collections::BTreeMap::new(),
        next_flow: 0,
        paused_until: None,
    };
    let thread = std::thread::Builder::new().name("rep-gateway".to_owned()).spawn(move || exchange.run())?;
    Ok(Gateway { is_over, bell, record, thread: Some(thread) })
}

impl Gateway {
    /// What the program tried and may not, so far.
    pub fn denials(&self) -> Vec<Denial> {
        self.refusals().iter().filter(|refusal| refusal.is_denial()).map(Refusal::denial).collect()
    }

    /// Every connection that did not come about, with the reason, so far. Has failures of the world too.
    pub fn refusals(&self) -> Vec<Refusal> {
        self.record.lock().refusals().to_vec()
    }

    /// Ends every connection and closes every socket. Stopping twice is stopping once; what was recorded stays.
    pub fn stop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        wake::ring(&self.bell);
        // A loop that panicked has closed its sockets while it unwound.
        drop(self.thread.take().map(JoinHandle::join));
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.stop();
    }
}
