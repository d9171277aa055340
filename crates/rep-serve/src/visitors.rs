//! Connections, as many as there is room for; who says nothing at first, or never comes to the end of a request, is let go.

use std::future::Future as _;
use std::io;
use std::net::SocketAddr;
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
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, Sleep};

use crate::peer;

/// The most connections at once; further ones wait to be taken.
const CONNECTIONS_MAX: usize = 4096;
/// How long one may take for its first word, and how long nothing may go either way after it. Streams that stay open show that
/// they live.
const SILENCE_MAX: Duration = Duration::from_secs(30);
const IDLE_MAX: Duration = Duration::from_mins(2);
/// How long the head of a request may take from its first byte to its last. What comes after it has a time of its own.
const HEAD_TIME: Duration = Duration::from_secs(30);

/// Lets every connection know when the head of a request is there, and every request whose connection it came on.
pub(crate) fn hearing(router: Router) -> IntoMakeServiceWithConnectInfo<Router, Visit> {
    router.layer(middleware::from_fn(heard)).into_make_service_with_connect_info()
}

/// What a connection and the requests on it know of each other.
#[derive(Clone, Debug)]
pub(crate) struct Visit {
    /// How many requests began to be answered and ended so, both counted: an odd number while one is answered.
    turns: Arc<AtomicU64>,
    peer: SocketAddr,
    owner: Arc<OnceLock<Option<u32>>>,
}

impl Visit {
    fn new(peer: SocketAddr) -> Self {
        Self { turns: Arc::default(), peer, owner: Arc::default() }
    }

    /// Whose connection this is, where it comes from this machine and the kernel says so.
    pub(crate) fn owner(&self) -> Option<u32> {
        let look = || self.peer.ip().is_loopback().then(|| peer::owner_of(self.peer))?;
        *self.owner.get_or_init(look)
    }
}

impl<L: Listener<Addr = SocketAddr>> Connected<IncomingStream<'_, Visitors<L>>> for Visit {
    fn connect_info(stream: IncomingStream<'_, Visitors<L>>) -> Self {
        stream.io().visit.clone()
    }
}

/// A request that is answered. What is read meanwhile belongs to it.
struct Turn(Visit);

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.turns.fetch_add(1, Ordering::Relaxed);
    }
}

/// Tells the connection that the head of a request is there.
async fn heard(ConnectInfo(visit): ConnectInfo<Visit>, request: Request, next: Next) -> Response {
    visit.turns.fetch_add(1, Ordering::Relaxed);
    let _turn = Turn(visit);
    next.run(request).await
}

/// A listener that counts.
pub(crate) struct Visitors<L> {
    listener: L,
    room: Arc<Semaphore>,
    /// Whether only the user this process runs as is let in.
    is_for_one: bool,
}

impl<L> Visitors<L> {
    pub(crate) fn new(listener: L, is_for_one: bool) -> Self {
        Self { listener, room: Arc::new(Semaphore::new(CONNECTIONS_MAX)), is_for_one }
    }
}

impl<L: Listener<Addr = SocketAddr>> Listener for Visitors<L> {
    type Io = Visitor<L::Io>;
    type Addr = L::Addr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        let place = Arc::clone(&self.room).acquire_owned().await.ok();
        loop {
            let (stream, address) = self.listener.accept().await;
            if !self.is_for_one || peer::is_own(address) {
                return (Visitor::new(stream, address, place), address);
            }
        }
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        self.listener.local_addr()
    }
}

/// A connection, and the time it has left.
pub(crate) struct Visitor<S> {
    stream: S,
    silence: Pin<Box<Sleep>>,
    /// The time the head of a request has left, while one is coming.
    head: Option<Pin<Box<Sleep>>>,
    visit: Visit,
    turns: u64,
    _place: Option<OwnedSemaphorePermit>,
}

impl<S> Visitor<S> {
    fn new(stream: S, peer: SocketAddr, place: Option<OwnedSemaphorePermit>) -> Self {
        let silence = Box::pin(tokio::time::sleep(SILENCE_MAX));
        Self { stream, silence, head: None, visit: Visit::new(peer), turns: 0, _place: place }
    }

    /// Something went one way or the other.
    fn lives(&mut self) {
        self.silence.as_mut().reset(Instant::now() + IDLE_MAX);
    }

    /// Something was read: of a request that is answered, of the head of the next, or its first byte.
    fn hears(&mut self) {
        self.lives();
        if self.turns.is_multiple_of(2) && self.head.is_none() {
            self.head = Some(Box::pin(tokio::time::sleep(HEAD_TIME)));
        }
    }

    /// Whether the head of a request takes too long.
    fn is_late(&mut self, context: &mut Context<'_>) -> bool {
        let turns = self.visit.turns.load(Ordering::Relaxed);
        if turns != self.turns {
            self.turns = turns;
            self.head = None;
        }
        self.head.as_mut().is_some_and(|head| head.as_mut().poll(context).is_ready())
    }
}

fn too_late<T>(what: &'static str) -> Poll<io::Result<T>> {
    Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, what)))
}

impl<S: AsyncRead + Unpin> AsyncRead for Visitor<S> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, room: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.is_late(context) {
            return too_late("a request did not come to the end of its head");
        }
        let before = room.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, room);
        if read.is_ready() {
            if room.filled().len() > before {
                self.hears();
            }
            return read;
        }
        match self.silence.as_mut().poll(context) {
            Poll::Ready(()) => too_late("nothing was said"),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Visitor<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.lives();
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
        self.lives();
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

    /// Runs with a clock that goes on whenever nobody has anything to do.
    fn with_own_clock<T>(work: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        runtime.unwrap().block_on(work)
    }

    #[test]
    fn who_says_nothing_is_let_go_soon_and_who_spoke_later() {
        with_own_clock(async {
            let (_silent, stream) = duplex(16);
            let mut visitor = Visitor::new(stream, PEER, None);
            let error = visitor.read_u8().await.unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::TimedOut);

            let (mut client, stream) = duplex(16);
            let mut visitor = Visitor::new(stream, PEER, None);
            client.write_all(b"a").await.unwrap();
            assert_eq!(visitor.read_u8().await.unwrap(), b'a');
            visitor.visit.turns.store(2, Ordering::Relaxed);
            let later = tokio::time::timeout(IDLE_MAX / 2, visitor.read_u8()).await;
            assert!(later.is_err(), "it waits on");
            // What is written counts too.
            visitor.write_all(b"c").await.unwrap();
            let later = tokio::time::timeout(IDLE_MAX * 3 / 4, visitor.read_u8()).await;
            assert!(later.is_err(), "it waits on");
            client.write_all(b"b").await.unwrap();
            assert_eq!(visitor.read_u8().await.unwrap(), b'b');
            visitor.visit.turns.store(4, Ordering::Relaxed);
            assert_eq!(visitor.read_u8().await.unwrap_err().kind(), io::ErrorKind::TimedOut);
        });
    }

    /// Connections that tests make.
    struct Made(mpsc::Receiver<DuplexStream>);

    impl Listener for Made {
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

    /// A server, and a way to visit it.
    fn served() -> mpsc::Sender<DuplexStream> {
        let (sender, receiver) = mpsc::channel(1);
        let slow = get(async || {
            tokio::time::sleep(HEAD_TIME * 3).await;
            "slow"
        });
        let router = Router::new().route("/slow", slow).route("/say", post(async |body: String| body));
        tokio::spawn(axum::serve(Visitors::new(Made(receiver), false), hearing(router)).into_future());
        sender
    }

    async fn visiting(server: &mpsc::Sender<DuplexStream>) -> DuplexStream {
        let (client, stream) = duplex(1024);
        server.send(stream).await.unwrap();
        client
    }

    /// Says something and hears the answer up to these words.
    async fn asked(client: &mut DuplexStream, text: &str, end: &str) -> String {
        client.write_all(text.as_bytes()).await.unwrap();
        let mut heard = String::new();
        while !heard.ends_with(end) {
            let byte = client.read_u8().await.unwrap_or_else(|error| panic!("{error} after {heard}"));
            heard.push(char::from(byte));
        }
        heard
    }

    #[test]
    fn who_never_comes_to_the_end_of_a_head_is_let_go() {
        with_own_clock(async {
            let server = served();
            let begun = Instant::now();
            let mut client = visiting(&server).await;
            let head = "GET /slow HTTP/1.1\r\nHost: x\r\nX-Long: ";
            client.write_all(head.as_bytes()).await.unwrap();
            // A byte every second is never silence.
            while client.write_all(b"a").await.is_ok() {
                tokio::time::sleep(Duration::from_secs(1)).await;
                assert!(begun.elapsed() < IDLE_MAX, "it is still let in");
            }
            assert!(begun.elapsed() <= HEAD_TIME + Duration::from_secs(5), "{:?}", begun.elapsed());
        });
    }

    #[test]
    fn who_waits_for_an_answer_or_rests_between_two_is_kept() {
        with_own_clock(async {
            let server = served();
            let mut client = visiting(&server).await;
            let slow = "GET /slow HTTP/1.1\r\nHost: x\r\n\r\n";
            asked(&mut client, slow, "slow").await;
            tokio::time::sleep(HEAD_TIME * 2).await;
            // A head in two pieces, and a body that takes its time.
            client.write_all(b"POST /say HTTP/1.1\r\nHost: x\r\n").await.unwrap();
            tokio::time::sleep(HEAD_TIME / 2).await;
            client.write_all(b"Content-Length: 5\r\n\r\n").await.unwrap();
            for byte in b"hell" {
                tokio::time::sleep(HEAD_TIME / 2).await;
                client.write_all(&[*byte]).await.unwrap();
            }
            asked(&mut client, "o", "hello").await;
            // The next one is held to its time again.
            client.write_all(b"GET ").await.unwrap();
            assert_eq!(client.read_u8().await.unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        });
    }
}
