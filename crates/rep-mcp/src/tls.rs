//! TLS for the HTTP server. A slow handshake does not delay other connections.

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

/// The maximum duration of a handshake, and the maximum number of concurrent handshakes.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
const HANDSHAKES_MAX: usize = 256;

/// A certificate and its key, in PEM.
#[derive(Clone)]
pub struct TlsIdentity {
    /// The certificate chain.
    pub certificates: Vec<u8>,
    /// The private key.
    pub key: Vec<u8>,
}

impl std::fmt::Debug for TlsIdentity {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("TlsIdentity")
    }
}

/// Builds an acceptor from a certificate and its key.
fn build_acceptor(tls: &TlsIdentity) -> Result<TlsAcceptor, String> {
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&tls.certificates).collect();
    let certificates = certificates.map_err(|error| format!("could not read the certificate: {error}"))?;
    if certificates.is_empty() {
        return Err("the certificate file does not contain a PEM certificate".to_owned());
    }
    // Messages must not contain any part of a key file.
    let key =
        PrivateKeyDer::from_pem_slice(&tls.key).map_err(|_| "the key file does not contain a PEM key".to_owned())?;
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let config = config.with_safe_default_protocol_versions().map_err(|error| error.to_string())?;
    let config = config.with_no_client_auth().with_single_cert(certificates, key);
    Ok(TlsAcceptor::from(Arc::new(config.map_err(|error| format!("the key does not match the certificate: {error}"))?)))
}

/// Yields connections whose handshake is complete.
pub(crate) struct TlsListener {
    ready: mpsc::Receiver<(TlsStream<TcpStream>, SocketAddr)>,
    address: SocketAddr,
}

impl TlsListener {
    pub(crate) fn new(mut listener: TcpListener, tls: &TlsIdentity) -> Result<Self, String> {
        let acceptor = build_acceptor(tls)?;
        let address = listener.local_addr().map_err(|error| error.to_string())?;
        let (done, ready) = mpsc::channel(HANDSHAKES_MAX);
        let slots = Arc::new(Semaphore::new(HANDSHAKES_MAX));
        tokio::spawn(async move {
            while let Ok(slot) = Arc::clone(&slots).acquire_owned().await {
                let (stream, peer) = Listener::accept(&mut listener).await;
                let (acceptor, done) = (acceptor.clone(), done.clone());
                tokio::spawn(async move {
                    // A client that does not complete the handshake in time is dropped.
                    if let Ok(Ok(stream)) = tokio::time::timeout(HANDSHAKE_TIMEOUT, acceptor.accept(stream)).await {
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
            // The accepting task has ended; no more connections will arrive.
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        Ok(self.address)
    }
}
