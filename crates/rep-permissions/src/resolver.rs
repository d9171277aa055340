//! Resolves names to addresses, for the gateway of tools and for requests of API skills.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;

type ResolveFunction = dyn Fn(&str, u16) -> io::Result<Vec<SocketAddr>> + Send + Sync;

/// Resolves a name and a port to addresses.
#[derive(Clone)]
pub struct HostResolver(Arc<ResolveFunction>);

impl HostResolver {
    /// Returns the system's resolver, which uses the hosts file, name servers and other configured sources.
    pub fn system() -> HostResolver {
        HostResolver::new(|name, port| Ok((name, port).to_socket_addrs()?.collect()))
    }

    /// Creates a custom resolver. Its addresses are checked like all others.
    pub fn new(resolve: impl Fn(&str, u16) -> io::Result<Vec<SocketAddr>> + Send + Sync + 'static) -> HostResolver {
        HostResolver(Arc::new(resolve))
    }

    /// Resolves a name.
    pub fn resolve(&self, name: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        (self.0)(name, port)
    }
}
