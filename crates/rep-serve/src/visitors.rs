//! Connections, as many as there is room for; who says nothing at first is let go.

use std::future::Future as _;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::serve::Listener;
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
                return (Visitor::new(stream, place), address);
            }
        }
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        self.listener.local_addr()
    }
}

/// A connection, and the time it has left for its first word.
pub(crate) struct Visitor<S> {
    stream: S,
    silence: Pin<Box<Sleep>>,
    _place: Option<OwnedSemaphorePermit>,
}

impl<S> Visitor<S> {
    fn new(stream: S, place: Option<OwnedSemaphorePermit>) -> Self {
        Self { stream, silence: Box::pin(tokio::time::sleep(SILENCE_MAX)), _place: place }
    }
}

impl<S> Visitor<S> {
    /// Something went one way or the other.
    fn lives(&mut self) {
        self.silence.as_mut().reset(Instant::now() + IDLE_MAX);
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Visitor<S> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, room: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.stream).poll_read(context, room);
        if read.is_ready() {
            self.lives();
            return read;
        }
        self.silence.as_mut().poll(context).map(|()| Err(io::Error::new(io::ErrorKind::TimedOut, "nothing was said")))
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
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};

    use super::*;

    #[test]
    fn who_says_nothing_is_let_go_soon_and_who_spoke_later() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let (_silent, stream) = duplex(16);
            let mut visitor = Visitor::new(stream, None);
            let error = visitor.read_u8().await.unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::TimedOut);

            let (mut client, stream) = duplex(16);
            let mut visitor = Visitor::new(stream, None);
            client.write_all(b"a").await.unwrap();
            assert_eq!(visitor.read_u8().await.unwrap(), b'a');
            let later = tokio::time::timeout(IDLE_MAX / 2, visitor.read_u8()).await;
            assert!(later.is_err(), "it waits on");
            // What is written counts too.
            visitor.write_all(b"c").await.unwrap();
            let later = tokio::time::timeout(IDLE_MAX * 3 / 4, visitor.read_u8()).await;
            assert!(later.is_err(), "it waits on");
            client.write_all(b"b").await.unwrap();
            assert_eq!(visitor.read_u8().await.unwrap(), b'b');
            assert_eq!(visitor.read_u8().await.unwrap_err().kind(), io::ErrorKind::TimedOut);
        });
    }
}
