//! Limits on connections: their number, the time that one may be idle, and the time to receive the head of a request.
//!
//! The limits are part of the stream because neither hyper nor axum provides them. hyper's `header_read_timeout` also
//! closes a connection that is idle between two requests. hyper never closes a connection whose client does not read.
//! `axum::serve` configures neither.

use std::future::Future as _;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::extract::connect_info::{ConnectInfo, Connected, IntoMakeServiceWithConnectInfo};
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::serve::{IncomingStream, Listener};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::oneshot;
use tokio::time::{Instant, Sleep};

use crate::connection_table::{ConnectionEntry, ConnectionTable};
use crate::identity::Owner;
use crate::peer_owner;

/// The maximum time until a connection sends its first byte, and the maximum idle time after that. Streams that stay
/// open send something regularly.
const FIRST_BYTE_TIMEOUT: Duration = Duration::from_secs(30);
const IDLE_TIMEOUT: Duration = Duration::from_mins(2);
/// The maximum time to receive the head of a request, from first to last byte. The body has a separate limit.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);

/// Notifies each connection when the head of a request is complete, and attaches the connection to its requests.
pub(crate) fn track_requests(router: Router) -> IntoMakeServiceWithConnectInfo<Router, Connection> {
    router.layer(middleware::from_fn(track_request)).into_make_service_with_connect_info()
}

/// A connection, as its requests see it.
#[derive(Clone, Debug)]
pub struct Connection {
    /// The number of starts and ends of requests: odd while a request is being answered.
    transitions: Arc<AtomicU64>,
    peer: SocketAddr,
    owner: Arc<OnceLock<Option<u32>>>,
    is_own: Arc<OnceLock<bool>>,
    /// The connection's table and number.
    place: Option<(Arc<ConnectionTable>, u64)>,
}

impl Connection {
    fn new(peer: SocketAddr) -> Self {
        Self { transitions: Arc::default(), peer, owner: Arc::default(), is_own: Arc::default(), place: None }
    }

    /// Returns the address of the client.
    pub(crate) fn peer_address(&self) -> IpAddr {
        self.peer.ip()
    }

    /// Whether the connection belongs to the user of this process or to root. True if the kernel has no table.
    pub(crate) fn is_own(&self) -> bool {
        *self.is_own.get_or_init(|| peer_owner::is_own_connection(self.peer))
    }

    /// Notes that a request of a bearer was admitted. Returns `false` if the bearer has too many connections.
    pub(crate) fn admit(&self, owner: &Owner) -> bool {
        self.place.as_ref().is_none_or(|(table, number)| table.admit(*number, owner))
    }

    /// Returns the user that owns the connection, if it comes from this machine and the kernel knows the owner.
    pub fn owner(&self) -> Option<u32> {
        let look = || self.peer.ip().is_loopback().then(|| peer_owner::find_connection_owner(self.peer))?;
        *self.owner.get_or_init(look)
    }
}

impl<L: Listener<Addr = SocketAddr>> Connected<IncomingStream<'_, LimitedListener<L>>> for Connection {
    fn connect_info(stream: IncomingStream<'_, LimitedListener<L>>) -> Self {
        stream.io().connection.clone()
    }
}

/// A request that is being answered. Data read in the meantime belongs to it.
struct RequestGuard(Connection);

impl Drop for RequestGuard {
    fn drop(&mut self) {
        self.0.transitions.fetch_add(1, Ordering::Relaxed);
    }
}

/// Notifies the connection that the head of a request is complete.
async fn track_request(ConnectInfo(connection): ConnectInfo<Connection>, request: Request, next: Next) -> Response {
    connection.transitions.fetch_add(1, Ordering::Relaxed);
    let _guard = RequestGuard(connection);
    next.run(request).await
}

/// A listener with a connection limit.
pub(crate) struct LimitedListener<L> {
    listener: L,
    table: Arc<ConnectionTable>,
}

impl<L> LimitedListener<L> {
    pub(crate) fn new(listener: L) -> Self {
        Self { listener, table: Arc::new(ConnectionTable::new()) }
    }
}

impl<L: Listener<Addr = SocketAddr>> Listener for LimitedListener<L> {
    type Io = LimitedStream<L::Io>;
    type Addr = L::Addr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        self.table.make_room().await;
        let (stream, address) = self.listener.accept().await;
        (LimitedStream::new(stream, address, Some(&self.table)), address)
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        self.listener.local_addr()
    }
}

/// A stream with time limits.
pub(crate) struct LimitedStream<S> {
    stream: S,
    idle: Pin<Box<Sleep>>,
    /// The deadline for the head of a request, while one is being read.
    head: Option<Pin<Box<Sleep>>>,
    connection: Connection,
    transitions: u64,
    /// Completes when the connection gives way to another one.
    closing: Option<oneshot::Receiver<()>>,
    _entry: Option<ConnectionEntry>,
}

impl<S> LimitedStream<S> {
    fn new(stream: S, peer: SocketAddr, table: Option<&Arc<ConnectionTable>>) -> Self {
        let idle = Box::pin(tokio::time::sleep(FIRST_BYTE_TIMEOUT));
        let mut connection = Connection::new(peer);
        let (mut entry, mut closing) = (None, None);
        if let Some(table) = table {
            let (own, receiver) = table.insert(peer.ip(), Arc::clone(&connection.transitions));
            connection.place = Some((Arc::clone(table), own.number()));
            (entry, closing) = (Some(own), Some(receiver));
        }
        Self { stream, idle, head: None, connection, transitions: 0, closing, _entry: entry }
    }

    /// Whether the connection must give way to another one.
    fn must_close(&mut self, context: &mut Context<'_>) -> bool {
        let Some(closing) = &mut self.closing else { return false };
        Pin::new(closing).poll(context).is_ready()
    }

    /// Restarts the idle timer, because data was sent or received.
    fn reset_idle(&mut self) {
        self.idle.as_mut().reset(Instant::now() + IDLE_TIMEOUT);
    }

    /// Notes that data was read: part of the request being answered, or of the head of the next one.
    fn note_read(&mut self) {
        self.reset_idle();
        if self.transitions.is_multiple_of(2) && self.head.is_none() {
            self.head = Some(Box::pin(tokio::time::sleep(HEAD_TIMEOUT)));
        }
    }

    /// Whether the head of a request takes too long.
    fn is_head_late(&mut self, context: &mut Context<'_>) -> bool {
        let transitions = self.connection.transitions.load(Ordering::Relaxed);
        if transitions != self.transitions {
            self.transitions = transitions;
            self.head = None;
        }
        self.head.as_mut().is_some_and(|head| head.as_mut().poll(context).is_ready())
    }
}

fn timeout_error<T>(what: &'static str) -> Poll<io::Result<T>> {
    Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, what)))
}

impl<S: AsyncRead + Unpin> AsyncRead for LimitedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.must_close(context) {
            self.closing = None;
            return timeout_error("the connection was closed in favour of another one");
        }
        if self.is_head_late(context) {
            return timeout_error("the head of the request was not received in time");
        }
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if read.is_ready() {
            if buffer.filled().len() > before {
                self.note_read();
            }
            return read;
        }
        match self.idle.as_mut().poll(context) {
            Poll::Ready(()) => timeout_error("the connection was idle for too long"),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for LimitedStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.reset_idle();
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.reset_idle();
        Pin::new(&mut self.stream).poll_write_vectored(context, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use axum::routing::{get, post};
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};
    use tokio::sync::mpsc;

    use super::*;

    const PEER: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 9);

    /// Runs with a clock that advances whenever nothing else can happen.
    fn with_paused_clock<T>(work: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        runtime.unwrap().block_on(work)
    }

    #[test]
    fn a_silent_connection_ends_soon_and_an_idle_one_later() {
        with_paused_clock(async {
            let (_silent, stream) = duplex(16);
            let mut limited = LimitedStream::new(stream, PEER, None);
            let error = limited.read_u8().await.unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::TimedOut);

            let (mut client, stream) = duplex(16);
            let mut limited = LimitedStream::new(stream, PEER, None);
            client.write_all(b"a").await.unwrap();
            assert_eq!(limited.read_u8().await.unwrap(), b'a');
            limited.connection.transitions.store(2, Ordering::Relaxed);
            let later = tokio::time::timeout(IDLE_TIMEOUT / 2, limited.read_u8()).await;
            assert!(later.is_err(), "it still waits");
            // Writing also resets the timer.
            limited.write_all(b"c").await.unwrap();
            let later = tokio::time::timeout(IDLE_TIMEOUT * 3 / 4, limited.read_u8()).await;
            assert!(later.is_err(), "it still waits");
            client.write_all(b"b").await.unwrap();
            assert_eq!(limited.read_u8().await.unwrap(), b'b');
            limited.connection.transitions.store(4, Ordering::Relaxed);
            assert_eq!(limited.read_u8().await.unwrap_err().kind(), io::ErrorKind::TimedOut);
        });
    }

    /// A listener for connections of the tests.
    struct TestListener(mpsc::Receiver<DuplexStream>);

    impl Listener for TestListener {
        type Io = DuplexStream;
        type Addr = SocketAddr;

        async fn accept(&mut self) -> (DuplexStream, SocketAddr) {
            match self.0.recv().await {
                Some(stream) => (stream, PEER),
                None => std::future::pending().await,
            }
        }

        fn local_addr(&self) -> io::Result<SocketAddr> {
            Ok(PEER)
        }
    }

    /// Starts a server that accepts the connections sent to it.
    fn start_server() -> mpsc::Sender<DuplexStream> {
        let (sender, receiver) = mpsc::channel(1);
        let slow = get(async || {
            tokio::time::sleep(HEAD_TIMEOUT * 3).await;
            "slow"
        });
        let router = Router::new().route("/slow", slow).route("/say", post(async |body: String| body));
        tokio::spawn(axum::serve(LimitedListener::new(TestListener(receiver)), track_requests(router)).into_future());
        sender
    }

    async fn connect_client(server: &mpsc::Sender<DuplexStream>) -> DuplexStream {
        let (client, stream) = duplex(1024);
        server.send(stream).await.unwrap();
        client
    }

    /// Sends a text, and reads the answer up to `end`.
    async fn send_and_read(client: &mut DuplexStream, text: &str, end: &str) -> String {
        client.write_all(text.as_bytes()).await.unwrap();
        let mut answer = String::new();
        while !answer.ends_with(end) {
            let byte = client.read_u8().await.unwrap_or_else(|error| panic!("{error} after {answer}"));
            answer.push(char::from(byte));
        }
        answer
    }

    #[test]
    fn a_head_that_never_ends_ends_the_connection() {
        with_paused_clock(async {
            let server = start_server();
            let begun = Instant::now();
            let mut client = connect_client(&server).await;
            let head = "GET /slow HTTP/1.1\r\nHost: x\r\nX-Long: ";
            client.write_all(head.as_bytes()).await.unwrap();
            // With one byte per second, the connection is never idle.
            while client.write_all(b"a").await.is_ok() {
                tokio::time::sleep(Duration::from_secs(1)).await;
                assert!(begun.elapsed() < IDLE_TIMEOUT, "it is still open");
            }
            assert!(begun.elapsed() <= HEAD_TIMEOUT + Duration::from_secs(5), "{:?}", begun.elapsed());
        });
    }

    #[test]
    fn a_connection_that_waits_for_an_answer_or_rests_between_two_is_kept() {
        with_paused_clock(async {
            let server = start_server();
            let mut client = connect_client(&server).await;
            let slow = "GET /slow HTTP/1.1\r\nHost: x\r\n\r\n";
            send_and_read(&mut client, slow, "slow").await;
            tokio::time::sleep(HEAD_TIMEOUT * 2).await;
            // A head in two parts, and a slow body.
            client.write_all(b"POST /say HTTP/1.1\r\nHost: x\r\n").await.unwrap();
            tokio::time::sleep(HEAD_TIMEOUT / 2).await;
            client.write_all(b"Content-Length: 5\r\n\r\n").await.unwrap();
            for byte in b"hell" {
                tokio::time::sleep(HEAD_TIMEOUT / 2).await;
                client.write_all(&[*byte]).await.unwrap();
            }
            send_and_read(&mut client, "o", "hello").await;
            // The limit also applies to the next head.
            client.write_all(b"GET ").await.unwrap();
            assert_eq!(client.read_u8().await.unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        });
    }
}
