//! Names to addresses: for the gateway of tools and for the requests of API skills alike.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;

type Resolve = dyn Fn(&str, u16) -> io::Result<Vec<SocketAddr>> + Send + Sync;

/// What makes addresses of a name and a port.
#[derive(Clone)]
pub struct Resolver(Arc<Resolve>);

impl Resolver {
    /// The system's: hosts file, name servers, and whatever else it is set up for.
    pub fn system() -> Resolver {
        Resolver::new(|name, port| Ok((name, port).to_socket_addrs()?.collect()))
    }

    /// Another one. Its addresses are judged like all others.
    pub fn new(resolve: impl Fn(&str, u16) -> io::Result<Vec<SocketAddr>> + Send + Sync + 'static) -> Resolver {
        Resolver(Arc::new(resolve))
    }

    /// The addresses of a name.
    pub fn addresses(&self, name: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        (self.0)(name, port)
    }
}
