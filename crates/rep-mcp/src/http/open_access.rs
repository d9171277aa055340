//! Ends what a token opened when the token is no longer accepted.
//!
//! A request is authorized when it arrives, but streams stay open and calls run for a while after that. When a named
//! token is revoked or expires, its streams and unanswered requests end, and what its bearer has in this process goes
//! with it: sessions, runs, tasks and questions. A token of an authorization server expires often, and its subject gets
//! the next one. So only streams that listen for news end with it.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, BodyDataStream, Bytes};
use axum::extract::Request;
use axum::http::Method;
use axum::response::Response;
use parking_lot::Mutex;
use tokio::sync::watch;
use tokio_stream::Stream;

use super::Authenticator;
use super::endpoint::is_event_stream;
use super::session_owners::SessionOwners;
use crate::identity::{BearerIdentity, Owner, TokenValidity};
use crate::server::McpServer;

/// The interval between checks of the tokens in use.
const CHECK_INTERVAL: Duration = Duration::from_millis(250);
/// The header with the method of a message, which revision 2026-07-28 requires.
const METHOD_HEADER: &str = "mcp-method";

/// The tokens whose end must be noticed.
pub(super) struct OpenAccess {
    authenticator: Arc<Authenticator>,
    sessions: Arc<SessionOwners>,
    server: McpServer,
    tokens: Mutex<BTreeMap<(TokenValidity, Owner), watch::Sender<bool>>>,
}

/// The access of one request.
#[derive(Clone)]
pub(super) struct AccessLease(Option<watch::Receiver<bool>>);

impl OpenAccess {
    /// Starts to check tokens until the value is dropped. Must be called in a runtime.
    pub(super) fn start(
        authenticator: &Arc<Authenticator>,
        sessions: &Arc<SessionOwners>,
        server: &McpServer,
    ) -> Arc<Self> {
        let access = Arc::new(Self {
            authenticator: Arc::clone(authenticator),
            sessions: Arc::clone(sessions),
            server: server.clone(),
            tokens: Mutex::default(),
        });
        tokio::spawn(check_tokens(Arc::downgrade(&access)));
        access
    }

    /// Notes the token of a request. A token that ended after it was identified is noticed at the next check.
    pub(super) fn lease(&self, bearer: &BearerIdentity, request: &Request) -> AccessLease {
        let validity = bearer.validity();
        let must_watch = match validity {
            TokenValidity::Unlimited => false,
            TokenValidity::WhileNamed(_) => true,
            TokenValidity::Until(_) => is_listening(request),
        };
        if !must_watch {
            return AccessLease(None);
        }
        let mut tokens = self.tokens.lock();
        let ended = tokens.entry((validity, bearer.owner())).or_insert_with(|| watch::Sender::new(false));
        AccessLease(Some(ended.subscribe()))
    }

    /// Ends the access of tokens that are no longer accepted.
    async fn end_rejected(&self) {
        let ended: Vec<_> = {
            let mut tokens = self.tokens.lock();
            // A named token stays, because its bearer may have sessions and tasks; there are few of them.
            tokens.retain(|(validity, _), ended| {
                matches!(validity, TokenValidity::WhileNamed(_)) || ended.receiver_count() > 0
            });
            let rejected = |(validity, _): &(TokenValidity, Owner)| !self.authenticator.is_still_accepted(*validity);
            let rejected: Vec<_> = tokens.keys().filter(|key| rejected(key)).cloned().collect();
            rejected.into_iter().filter_map(|key| Some((tokens.remove(&key)?, key))).collect()
        };
        for (sender, (validity, owner)) in ended {
            sender.send_replace(true);
            if matches!(validity, TokenValidity::WhileNamed(_)) {
                self.server.end_owner(&owner);
                self.sessions.end_all_of(&owner).await;
            }
        }
    }
}

/// Whether a request opens a stream of news, which ends only when its client leaves.
fn is_listening(request: &Request) -> bool {
    let method = request.headers().get(METHOD_HEADER);
    request.method() == Method::GET || method.is_some_and(|method| method.as_bytes() == b"subscriptions/listen")
}

async fn check_tokens(access: Weak<OpenAccess>) {
    loop {
        tokio::time::sleep(CHECK_INTERVAL).await;
        let Some(access) = access.upgrade() else { return };
        access.end_rejected().await;
    }
}

impl AccessLease {
    /// Returns the access of a request without a token.
    pub(super) fn unlimited() -> Self {
        Self(None)
    }

    /// Waits for the response to a request, unless the token ends first.
    pub(super) async fn answer(&self, response: impl Future<Output = Response>) -> Option<Response> {
        let Some(mut ended) = self.0.clone() else { return Some(response.await) };
        tokio::select! {
            biased;
            () = wait_for_end(&mut ended) => None,
            response = response => Some(response),
        }
    }

    /// Ends the stream of a response together with the token.
    pub(super) fn limit_stream(self, response: Response) -> Response {
        match self.0 {
            Some(mut ended) if is_event_stream(response.headers()) => response.map(|body| {
                let ended = Box::pin(async move { wait_for_end(&mut ended).await });
                Body::from_stream(LimitedStream { events: body.into_data_stream(), ended })
            }),
            _ => response,
        }
    }
}

async fn wait_for_end(ended: &mut watch::Receiver<bool>) {
    if ended.wait_for(|has_ended| *has_ended).await.is_err() {
        // The server ends, and closes its streams itself.
        std::future::pending::<()>().await;
    }
}

/// The events of a stream that ends with its token.
struct LimitedStream {
    events: BodyDataStream,
    ended: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl Stream for LimitedStream {
    type Item = Result<Bytes, axum::Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.ended.as_mut().poll(context).is_ready() {
            return Poll::Ready(None);
        }
        Pin::new(&mut self.events).poll_next(context)
    }
}
