//! TLS before HTTP. Nobody who greets slowly keeps others waiting.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::serve::Listener;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::server::TlsStream;

/// How long a greeting may take, and how many may be under way.
const GREETING: Duration = Duration::from_secs(10);
const GREETINGS_MAX: usize = 256;

/// A certificate and its key, in PEM.
#[derive(Clone)]
pub struct Tls {
    /// The certificate, and those above it.
    pub certificates: Vec<u8>,
    /// Its key.
    pub key: Vec<u8>,
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Tls")
    }
}

/// Makes an acceptor of a certificate and its key, or says what is wrong with them.
fn acceptor(tls: &Tls) -> Result<TlsAcceptor, String> {
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&tls.certificates).collect();
    let certificates = certificates.map_err(|error| format!("the certificate cannot be read: {error}"))?;
    if certificates.is_empty() {
        return Err("the certificate's file holds none in PEM".to_owned());
    }
    // What a key's file holds is not for messages.
    let key = PrivateKeyDer::from_pem_slice(&tls.key).map_err(|_| "the key's file holds no key in PEM".to_owned())?;
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let config = config.with_safe_default_protocol_versions().map_err(|error| error.to_string())?;
    let config = config.with_no_client_auth().with_single_cert(certificates, key);
    Ok(TlsAcceptor::from(Arc::new(config.map_err(|error| format!("certificate and key do not fit: {error}"))?)))
}

/// Connections that have greeted.
pub(crate) struct TlsListener {
    ready: mpsc::Receiver<(TlsStream<TcpStream>, SocketAddr)>,
    address: SocketAddr,
}

impl TlsListener {
    pub(crate) fn new(mut listener: TcpListener, tls: &Tls) -> Result<Self, String> {
        let acceptor = acceptor(tls)?;
        let address = listener.local_addr().map_err(|error| error.to_string())?;
        let (done, ready) = mpsc::channel(GREETINGS_MAX);
        let slots = Arc::new(Semaphore::new(GREETINGS_MAX));
        tokio::spawn(async move {
            while let Ok(slot) = Arc::clone(&slots).acquire_owned().await {
                let (stream, peer) = Listener::accept(&mut listener).await;
                let (acceptor, done) = (acceptor.clone(), done.clone());
                tokio::spawn(async move {
                    // Who does not speak TLS, or not in time, is let go.
                    if let Ok(Ok(stream)) = tokio::time::timeout(GREETING, acceptor.accept(stream)).await {
                        let _ = done.send((stream, peer)).await;
                    }
                    drop(slot);
                });
            }
        });
        Ok(Self { ready, address })
    }
}

impl Listener for TlsListener {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        match self.ready.recv().await {
            Some(ready) => ready,
            // Nobody accepts any more; there is nothing left to come.
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        Ok(self.address)
    }
}
