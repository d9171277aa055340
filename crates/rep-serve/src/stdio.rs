//! One client on stdin and stdout.

use std::time::Duration;

use rmcp::ServiceExt as _;
use rmcp::service::QuitReason;

use crate::server::Served;

/// How long runs may take to end.
pub(crate) const GRACE: Duration = Duration::from_secs(5);

/// The most threads that read the disk or wait for a run; more would only wait for each other.
pub(crate) const THREADS_MAX: usize = 64;

/// Serves one client on stdin and stdout until it goes or somebody asks for the end. Why it ended is an error in words.
pub fn stdio(served: &Served) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(THREADS_MAX).build();
    let runtime = runtime.map_err(|error| format!("no room to work in: {error}"))?;
    let result = runtime.block_on(async {
        tokio::select! {
            result = one(served) => result,
            () = asked_to_end() => Ok(()),
        }
    });
    served.stop();
    runtime.block_on(served.rest(GRACE));
    served.end();
    // A read of stdin may still wait, and need not be waited for.
    runtime.shutdown_background();
    result
}

async fn one(served: &Served) -> Result<(), String> {
    let started = Box::pin(served.server().serve(rmcp::transport::io::stdio_pipes())).await;
    let running = match started {
        Ok(running) => running,
        // Whoever goes before saying anything has seen enough.
        Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(format!("the client did not begin as the protocol wants: {error}")),
    };
    match running.waiting().await {
        Ok(QuitReason::JoinError(error)) | Err(error) => Err(format!("the connection broke: {error}")),
        Ok(_) => Ok(()),
    }
}

/// Waits until somebody asks this process to end.
pub(crate) async fn asked_to_end() {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut interrupt), Ok(mut terminate)) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        // Without a handler the system ends the process itself.
        return std::future::pending().await;
    };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}
