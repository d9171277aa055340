//! Connections for requests: resolves and checks names, opens sockets, and starts TLS.

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

use crate::proxy::{HttpProxy, open_tunnel};
use crate::{NetError, NetErrorCode};
use rep_permissions::HostRule;
use rep_permissions::is_public_address;
use rep_permissions::resolver::HostResolver;

/// The maximum number of addresses tried per name.
const ADDRESSES_MAX: usize = 8;
/// The time limit for connecting to one address.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How much longer a connection may last than the caller waits for it.
const CONNECTION_OVERTIME: Duration = Duration::from_secs(1);

/// Opens connections to the hosts that may be reached.
#[derive(Clone)]
pub(crate) struct EgressConnector {
    pub(crate) rules: Arc<[HostRule]>,
    pub(crate) resolver: HostResolver,
    /// The deadline for the whole exchange.
    pub(crate) until: Instant,
    /// Whether the user named the hosts, so that their addresses need not be public.
    pub(crate) allows_private: bool,
    /// The proxy for other machines.
    pub(crate) proxy: Option<HttpProxy>,
}

impl fmt::Debug for EgressConnector {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Egress").field("rules", &self.rules).finish_non_exhaustive()
    }
}

/// An error that passes through the HTTP client.
pub(crate) struct WrappedError(pub(crate) Mutex<Option<NetError>>, String);

impl WrappedError {
    fn wrap(failure: NetError) -> ureq::Error {
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

impl EgressConnector {
    /// Whether a host is declared on a port.
    pub(crate) fn is_declared(&self, host: &str, port: u16) -> bool {
        self.rules.iter().any(|rule| rule.matches(host, port))
    }

    /// Whether a rule other than `*` declares this host.
    fn is_declared_explicitly(&self, host: &str, port: u16) -> bool {
        self.rules.iter().any(|rule| !rule.is_any_host() && rule.matches(host, port))
    }

    /// Returns the addresses at which a host may be reached.
    fn resolve_addresses(&self, host: &str, port: u16) -> Result<Vec<SocketAddr>, NetError> {
        if !self.is_declared(host, port) {
            let message = format!("`{host}` on port {port} is not declared");
            return Err(NetError::permission_denied(message, host, port, host));
        }
        if let Ok(address) = host.parse::<IpAddr>() {
            return Ok(vec![SocketAddr::new(address, port)]);
        }
        if host == "localhost" && self.is_declared_explicitly(host, port) {
            let both = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
            return Ok(both.map(|address| SocketAddr::new(address, port)).to_vec());
        }
        let found = self.resolver.resolve(host, port);
        let unresolved = |reason: String| {
            let message = format!("could not resolve `{host}`: {reason}");
            NetError::new(NetErrorCode::ConnectionFailed, message).retriable().unsent()
        };
        let found = found.map_err(|error| unresolved(error.to_string()))?;
        let Some(first) = found.first() else { return Err(unresolved("it has no address".to_owned())) };
        let is_open = |address: &SocketAddr| {
            self.allows_private
                || is_public_address(address.ip())
                || self.is_declared_explicitly(&address.ip().to_string(), port)
        };
        let open: Vec<SocketAddr> = found.iter().copied().filter(is_open).take(ADDRESSES_MAX).collect();
        if open.is_empty() { Err(private_address_error(host, *first)) } else { Ok(open) }
    }

    /// Returns the proxy for a connection. Connections without TLS are to this machine, and need none.
    fn proxy_for(&self, uri: &Uri, host: &str) -> Option<&HttpProxy> {
        let is_here = host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
        self.proxy.as_ref().filter(|_| uri.scheme_str() == Some("https") && !is_here)
    }

    /// Returns the addresses of the proxy for a host, which the proxy resolves.
    fn resolve_proxy(&self, proxy: &HttpProxy, host: &str, port: u16) -> Result<Vec<SocketAddr>, NetError> {
        if !self.is_declared(host, port) {
            let message = format!("`{host}` on port {port} is not declared");
            return Err(NetError::permission_denied(message, host, port, host));
        }
        if let Ok(address) = host.parse::<IpAddr>()
            && !self.allows_private
            && !is_public_address(address)
        {
            return Err(private_address_error(host, SocketAddr::new(address, port)));
        }
        if let Ok(address) = proxy.host.parse::<IpAddr>() {
            return Ok(vec![SocketAddr::new(address, proxy.port)]);
        }
        let found = self.resolver.resolve(&proxy.host, proxy.port).map_err(|error| {
            let message = format!("could not resolve the proxy `{}`: {error}", proxy.host);
            NetError::new(NetErrorCode::ConnectionFailed, message).unsent()
        })?;
        Ok(found.iter().copied().take(ADDRESSES_MAX).collect())
    }

    /// Opens a tunnel through the proxy.
    fn connect_through(&self, host: &str, port: u16, addresses: &[SocketAddr]) -> Result<TcpStream, NetError> {
        let own = EgressConnector { allows_private: true, ..self.clone() };
        let mut stream = own.connect_to_first("the proxy", addresses)?;
        open_tunnel(&mut stream, host, port)?;
        Ok(stream)
    }

    /// Returns the remaining time and a little more, because the waiting caller reports the timeout.
    fn remaining_time(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now()) + CONNECTION_OVERTIME
    }

    /// Connects to one of the checked addresses.
    fn connect_to_first(&self, host: &str, addresses: &[SocketAddr]) -> Result<TcpStream, NetError> {
        let mut last = "it has no address".to_owned();
        for address in addresses {
            let opened = TcpStream::connect_timeout(address, self.remaining_time().min(CONNECT_TIMEOUT));
            let stream = match opened {
                Ok(stream) => stream,
                Err(error) => {
                    last = format!("{address}: {error}");
                    continue;
                }
            };
            // An address that connects to itself belongs to this machine, even if it is public. Nothing has been sent
            // yet.
            let is_home = address.ip().is_loopback() && host == "localhost";
            let is_own = stream.local_addr().is_ok_and(|own| own.ip() == address.ip());
            if is_own
                && !is_home
                && !self.allows_private
                && !self.is_declared_explicitly(&address.ip().to_string(), address.port())
            {
                return Err(private_address_error(host, *address));
            }
            let _ = stream.set_nodelay(true);
            let _ = stream.set_read_timeout(Some(self.remaining_time()));
            let _ = stream.set_write_timeout(Some(self.remaining_time()));
            return Ok(stream);
        }
        let message = format!("could not connect to `{host}`: {last}");
        Err(NetError::new(NetErrorCode::ConnectionFailed, message).retriable().unsent())
    }
}

fn private_address_error(host: &str, address: SocketAddr) -> NetError {
    let (ip, port) = (address.ip(), address.port());
    let message = format!("`{host}` resolves to {ip}, which is not public and not declared");
    NetError::permission_denied(message, host, port, &ip.to_string())
}

impl Resolves for EgressConnector {
    fn resolve(&self, uri: &Uri, _: &ureq::config::Config, _: NextTimeout) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let (host, port) = parse_host_and_port(uri).ok_or(ureq::Error::HostNotFound)?;
        let mut found = self.empty();
        let addresses = match self.proxy_for(uri, &host) {
            Some(proxy) => self.resolve_proxy(proxy, &host, port),
            None => self.resolve_addresses(&host, port),
        };
        for address in addresses.map_err(WrappedError::wrap)? {
            found.push(address);
        }
        Ok(found)
    }
}

impl Connector for EgressConnector {
    type Out = EgressTransport;

    fn connect(&self, details: &ConnectionDetails<'_>, _: Option<()>) -> Result<Option<EgressTransport>, ureq::Error> {
        let (host, port) = parse_host_and_port(details.uri).ok_or(ureq::Error::HostNotFound)?;
        let opened = match self.proxy_for(details.uri, &host) {
            Some(_) => self.connect_through(&host, port, &details.addrs),
            None => self.connect_to_first(&host, &details.addrs),
        };
        let stream = Arc::new(opened.map_err(WrappedError::wrap)?);
        let handle: Weak<dyn ShutdownHandle> = Arc::<TcpStream>::downgrade(&stream);
        (details.register_shutdown)(handle)?;
        let wire = SharedSocket(stream);
        let speech = if details.needs_tls() {
            EgressStream::Encrypted(Box::new(start_tls(&host, wire).map_err(WrappedError::wrap)?))
        } else {
            EgressStream::Plain(wire)
        };
        let buffers = LazyBuffers::new(details.config.input_buffer_size(), details.config.output_buffer_size());
        Ok(Some(EgressTransport { stream: speech, buffers }))
    }
}

/// Returns the host without brackets, and the port.
fn parse_host_and_port(uri: &Uri) -> Option<(String, u16)> {
    let usual = if uri.scheme_str() == Some("https") { 443 } else { 80 };
    let host = uri.host()?;
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    Some((bare.to_ascii_lowercase(), uri.port_u16().unwrap_or(usual)))
}

/// Starts TLS with the system's trusted certificates.
fn start_tls(host: &str, mut wire: SharedSocket) -> Result<StreamOwned<ClientConnection, SharedSocket>, NetError> {
    let failed = |reason: String| {
        NetError::new(
            NetErrorCode::TlsFailed,
            format!("could not establish a trusted connection to `{host}`: {reason}"),
        )
        .unsent()
    };
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        let remedy = Some("install the system's CA certificates, or set SSL_CERT_FILE".to_owned());
        return Err(NetError { remedy, ..failed("no trusted certificates found on this machine".to_owned()) });
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

/// A socket that another thread can shut down.
pub(crate) struct SharedSocket(Arc<TcpStream>);

impl Read for SharedSocket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        (&*self.0).read(buffer)
    }
}

impl Write for SharedSocket {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        (&*self.0).write(buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

enum EgressStream {
    Plain(SharedSocket),
    Encrypted(Box<StreamOwned<ClientConnection, SharedSocket>>),
}

/// A connection for the HTTP client. Its time limit is set when it is opened, so the client's own timeouts are ignored.
pub(crate) struct EgressTransport {
    stream: EgressStream,
    buffers: LazyBuffers,
}

impl fmt::Debug for EgressTransport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Line").field("is_encrypted", &self.is_tls()).finish_non_exhaustive()
    }
}

impl Transport for EgressTransport {
    fn buffers(&mut self) -> &mut dyn Buffers {
        &mut self.buffers
    }

    fn transmit_output(&mut self, amount: usize, _: NextTimeout) -> Result<(), ureq::Error> {
        let output = &self.buffers.output()[..amount];
        match &mut self.stream {
            EgressStream::Plain(wire) => wire.write_all(output)?,
            EgressStream::Encrypted(stream) => {
                stream.write_all(output)?;
                stream.flush()?;
            }
        }
        Ok(())
    }

    fn await_input(&mut self, _: NextTimeout) -> Result<bool, ureq::Error> {
        let input = self.buffers.input_append_buf();
        let amount = match &mut self.stream {
            EgressStream::Plain(wire) => wire.read(input)?,
            EgressStream::Encrypted(stream) => stream.read(input)?,
        };
        self.buffers.input_appended(amount);
        Ok(amount > 0)
    }

    fn is_open(&mut self) -> bool {
        // Connections are not reused.
        false
    }

    fn is_tls(&self) -> bool {
        matches!(self.stream, EgressStream::Encrypted(_))
    }
}
