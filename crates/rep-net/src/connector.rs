//! Connections of requests: names resolved and judged, sockets opened, TLS spoken.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use ureq::http::Uri;
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver as Resolves};
use ureq::unversioned::transport::{
    Buffers, ConnectionDetails, Connector, LazyBuffers, NextTimeout, ShutdownHandle, Transport,
};

use crate::{NetError, NetErrorCode};
use rep_permissions::HostRule;
use rep_permissions::is_public;
use rep_permissions::resolver::Resolver;

/// The most addresses of a name that are tried.
const ADDRESSES_MAX: usize = 8;
/// How long one address may take to answer.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How much longer a connection lasts than the wait for it.
const OVERTIME: Duration = Duration::from_secs(1);

/// The way out: the hosts that may be reached, and how.
#[derive(Clone)]
pub(crate) struct Egress {
    pub(crate) rules: Arc<[HostRule]>,
    pub(crate) resolver: Resolver,
    /// When everything is over.
    pub(crate) until: Instant,
}

impl fmt::Debug for Egress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Egress").field("rules", &self.rules).finish_non_exhaustive()
    }
}

/// A failure on its way through the client.
pub(crate) struct WrappedError(pub(crate) Mutex<Option<NetError>>, String);

impl WrappedError {
    fn error(failure: NetError) -> ureq::Error {
        let told = failure.message.clone();
        ureq::Error::Other(Box::new(WrappedError(Mutex::new(Some(failure)), told)))
    }
}

impl fmt::Debug for WrappedError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.1)
    }
}

impl fmt::Display for WrappedError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.1)
    }
}

impl std::error::Error for WrappedError {}

impl Egress {
    /// Whether a host is declared on a port.
    pub(crate) fn is_declared(&self, host: &str, port: u16) -> bool {
        self.rules.iter().any(|rule| rule.fits(host, port))
    }

    /// Whether this host is declared, and not only with all others.
    fn is_named(&self, host: &str, port: u16) -> bool {
        self.rules.iter().any(|rule| !rule.is_any() && rule.fits(host, port))
    }

    /// The addresses a host may be reached at.
    fn addresses(&self, host: &str, port: u16) -> Result<Vec<SocketAddr>, NetError> {
        if !self.is_declared(host, port) {
            let message = format!("`{host}` on port {port} is not declared");
            return Err(NetError::denied(message, host, port, host));
        }
        if let Ok(address) = host.parse::<IpAddr>() {
            return Ok(vec![SocketAddr::new(address, port)]);
        }
        if host == "localhost" && self.is_named(host, port) {
            let both = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
            return Ok(both.map(|address| SocketAddr::new(address, port)).to_vec());
        }
        let found = self.resolver.addresses(host, port);
        let unresolved = |reason: String| {
            let message = format!("the name `{host}` could not be resolved: {reason}");
            NetError::new(NetErrorCode::ConnectionFailed, message).retriable().unsent()
        };
        let found = found.map_err(|error| unresolved(error.to_string()))?;
        let Some(first) = found.first() else { return Err(unresolved("it has no address".to_owned())) };
        let is_open = |address: &SocketAddr| is_public(address.ip()) || self.is_named(&address.ip().to_string(), port);
        let open: Vec<SocketAddr> = found.iter().copied().filter(is_open).take(ADDRESSES_MAX).collect();
        if open.is_empty() { Err(not_public(host, *first)) } else { Ok(open) }
    }

    /// The time that is left, and a little more: that it is over is for who waits to say.
    fn left(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now()) + OVERTIME
    }

    /// Opens a connection to one of the judged addresses.
    fn open(&self, host: &str, addresses: &[SocketAddr]) -> Result<TcpStream, NetError> {
        let mut last = "it has no address".to_owned();
        for address in addresses {
            let opened = TcpStream::connect_timeout(address, self.left().min(CONNECT_TIMEOUT));
            let stream = match opened {
                Ok(stream) => stream,
                Err(error) => {
                    last = format!("{address}: {error}");
                    continue;
                }
            };
            // From an address to itself is to this machine, however public the address is. Nothing was sent yet.
            let is_home = address.ip().is_loopback() && host == "localhost";
            let is_own = stream.local_addr().is_ok_and(|own| own.ip() == address.ip());
            if is_own && !is_home && !self.is_named(&address.ip().to_string(), address.port()) {
                return Err(not_public(host, *address));
            }
            let _ = stream.set_nodelay(true);
            let _ = stream.set_read_timeout(Some(self.left()));
            let _ = stream.set_write_timeout(Some(self.left()));
            return Ok(stream);
        }
        let message = format!("`{host}` could not be reached: {last}");
        Err(NetError::new(NetErrorCode::ConnectionFailed, message).retriable().unsent())
    }
}

fn not_public(host: &str, address: SocketAddr) -> NetError {
    let (ip, port) = (address.ip(), address.port());
    let message = format!("`{host}` leads to {ip}, which is not public, and is not declared itself");
    NetError::denied(message, host, port, &ip.to_string())
}

impl Resolves for Egress {
    fn resolve(&self, uri: &Uri, _: &ureq::config::Config, _: NextTimeout) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let (host, port) = host_and_port(uri).ok_or(ureq::Error::HostNotFound)?;
        let mut found = self.empty();
        for address in self.addresses(&host, port).map_err(WrappedError::error)? {
            found.push(address);
        }
        Ok(found)
    }
}

impl Connector for Egress {
    type Out = Line;

    fn connect(&self, details: &ConnectionDetails<'_>, _: Option<()>) -> Result<Option<Line>, ureq::Error> {
        let (host, _) = host_and_port(details.uri).ok_or(ureq::Error::HostNotFound)?;
        let stream = Arc::new(self.open(&host, &details.addrs).map_err(WrappedError::error)?);
        let handle: Weak<dyn ShutdownHandle> = Arc::<TcpStream>::downgrade(&stream);
        (details.register_shutdown)(handle)?;
        let wire = Wire(stream);
        let speech = if details.needs_tls() {
            Speech::Encrypted(Box::new(encrypted(&host, wire).map_err(WrappedError::error)?))
        } else {
            Speech::Plain(wire)
        };
        let buffers = LazyBuffers::new(details.config.input_buffer_size(), details.config.output_buffer_size());
        Ok(Some(Line { speech, buffers }))
    }
}

/// The host without brackets, and the port.
fn host_and_port(uri: &Uri) -> Option<(String, u16)> {
    let usual = if uri.scheme_str() == Some("https") { 443 } else { 80 };
    let host = uri.host()?;
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    Some((bare.to_ascii_lowercase(), uri.port_u16().unwrap_or(usual)))
}

/// Greets with TLS, and believes who the system trusts.
fn encrypted(host: &str, mut wire: Wire) -> Result<StreamOwned<ClientConnection, Wire>, NetError> {
    let failed = |reason: String| {
        NetError::new(NetErrorCode::TlsFailed, format!("no trusted connection to `{host}`: {reason}")).unsent()
    };
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        let remedy = Some("install the system's certificates, or set SSL_CERT_FILE".to_owned());
        return Err(NetError { remedy, ..failed("no certificates are trusted on this machine".to_owned()) });
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| failed(error.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from(host.to_owned()).map_err(|error| failed(error.to_string()))?;
    let mut connection = ClientConnection::new(Arc::new(config), name).map_err(|error| failed(error.to_string()))?;
    while connection.is_handshaking() {
        connection.complete_io(&mut wire).map_err(|error| failed(error.to_string()))?;
    }
    Ok(StreamOwned::new(connection, wire))
}

/// A socket that can be shut from another thread.
pub(crate) struct Wire(Arc<TcpStream>);

impl Read for Wire {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        (&*self.0).read(buffer)
    }
}

impl Write for Wire {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        (&*self.0).write(buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

enum Speech {
    Plain(Wire),
    Encrypted(Box<StreamOwned<ClientConnection, Wire>>),
}

/// A connection the client speaks on. Its time is bounded where it is opened, so the client's own bounds are not looked at.
pub(crate) struct Line {
    speech: Speech,
    buffers: LazyBuffers,
}

impl fmt::Debug for Line {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Line").field("is_encrypted", &self.is_tls()).finish_non_exhaustive()
    }
}

impl Transport for Line {
    fn buffers(&mut self) -> &mut dyn Buffers {
        &mut self.buffers
    }

    fn transmit_output(&mut self, amount: usize, _: NextTimeout) -> Result<(), ureq::Error> {
        let output = &self.buffers.output()[..amount];
        match &mut self.speech {
            Speech::Plain(wire) => wire.write_all(output)?,
            Speech::Encrypted(stream) => {
                stream.write_all(output)?;
                stream.flush()?;
            }
        }
        Ok(())
    }

    fn await_input(&mut self, _: NextTimeout) -> Result<bool, ureq::Error> {
        let input = self.buffers.input_append_buf();
        let amount = match &mut self.speech {
            Speech::Plain(wire) => wire.read(input)?,
            Speech::Encrypted(stream) => stream.read(input)?,
        };
        self.buffers.input_appended(amount);
        Ok(amount > 0)
    }

    fn is_open(&mut self) -> bool {
        // No connection is used twice.
        false
    }

    fn is_tls(&self) -> bool {
        matches!(self.speech, Speech::Encrypted(_))
    }
}
