//! Serves a single client over stdin and stdout.

use std::time::Duration;

use rmcp::ServiceExt as _;
use rmcp::service::QuitReason;

use crate::server::McpServer;
use crate::stdio_transport::StdioTransport;
use crate::{ServeError, runtime_error};

/// The maximum time for runs to end during the shutdown.
pub(crate) const GRACE_PERIOD: Duration = Duration::from_secs(5);

/// The maximum number of blocking threads, which read from disk or wait for a run.
pub(crate) const THREADS_MAX: usize = 64;

/// Serves a single client over stdin and stdout until it disconnects or the process is terminated.
pub fn serve_stdio(server: &McpServer) -> Result<(), ServeError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(THREADS_MAX).build();
    let runtime = runtime.map_err(|error| runtime_error(&error))?;
    let result = runtime.block_on(async {
        tokio::select! {
            result = serve_client(server) => result,
            reason = wait_for_load_failure(server) => Err(ServeError(reason)),
            () = server.drain_until_done(wait_for_termination) => Ok(()),
        }
    });
    server.begin_shutdown();
    runtime.block_on(server.drain_calls(GRACE_PERIOD));
    server.stop_watching();
    // A read of stdin may still be blocked; it is not waited for.
    runtime.shutdown_background();
    result
}

/// Waits until the library cannot be read, and returns the reason.
async fn wait_for_load_failure(server: &McpServer) -> String {
    let mut failure = server.0.load_failure.subscribe();
    let reason = match failure.wait_for(Option::is_some).await {
        Ok(reason) => reason.clone(),
        Err(_) => None,
    };
    match reason {
        Some(reason) => reason,
        None => std::future::pending().await,
    }
}

async fn serve_client(server: &McpServer) -> Result<(), ServeError> {
    let (input, output) = rmcp::transport::io::stdio_pipes();
    let open_answers = server.0.open_answers.clone();
    let transport = StdioTransport::new(tokio::io::BufReader::new(input), output, open_answers);
    let started = Box::pin(server.new_local_handler().serve(transport)).await;
    let running = match started {
        Ok(running) => running,
        // A client that disconnects before it sends anything is not an error.
        Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(ServeError(format!("the client did not initialize the connection: {error}"))),
    };
    match running.waiting().await {
        Ok(QuitReason::JoinError(error)) | Err(error) => Err(ServeError(format!("the connection failed: {error}"))),
        Ok(_) => Ok(()),
    }
}

/// Waits until the process is asked to terminate.
#[cfg(windows)]
pub(crate) async fn wait_for_termination() {
    if tokio::signal::ctrl_c().await.is_err() {
        // Without a handler, the key ends the process.
        std::future::pending().await
    }
}

/// Waits until the process is asked to terminate.
#[cfg(unix)]
pub(crate) async fn wait_for_termination() {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut interrupt), Ok(mut terminate)) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        // Without a handler, the signal terminates the process.
        return std::future::pending().await;
    };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}
