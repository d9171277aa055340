//! Serves the skills of tags in registries: asks regularly what they mean, and swaps what is served as a whole.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use rep_mcp::{FollowedSource, McpServer};
use rep_net::oci::OCI_SCHEME;
use rep_package::client::SourceClient;
use rep_package::follow::{FollowedArtifact, FollowedSnapshot};
use rep_package::source::parse_registry_reference;

use crate::exit::Failure;
use crate::install_scope::open_source_client;

/// The target of log events, as those of the server itself.
const LOG_TARGET: &str = "rep_mcp::sources";

/// The tags that a server follows.
pub(super) struct Following {
    client: SourceClient,
    sources: Vec<FollowedTag>,
    /// The paths that are served too.
    paths: Vec<PathBuf>,
}

/// A tag, and what is served of it.
struct FollowedTag {
    artifact: FollowedArtifact,
    snapshot: Option<FollowedSnapshot>,
    checked: Option<Instant>,
    failures: usize,
    /// The last error, which is logged once.
    last_error: Option<String>,
}

impl Following {
    /// Prepares to follow tags. Returns `None` if there are none. No request is sent.
    pub(super) fn start(from: &[String], paths: Vec<PathBuf>) -> Result<Option<Self>, Failure> {
        if from.is_empty() {
            return Ok(None);
        }
        let client = open_source_client(false)?;
        let mut sources = Vec::with_capacity(from.len());
        for address in from {
            if !address.starts_with(OCI_SCHEME) {
                let message = format!("`{}` is not the address of a tag in a registry", address.escape_debug());
                return Err(Failure::unable("REFUSED_SOURCE", message).hint("write `oci://HOST/REPOSITORY:TAG`"));
            }
            let artifact = FollowedArtifact::new(parse_registry_reference(address)?, &client)?;
            sources.push(FollowedTag { artifact, snapshot: None, checked: None, failures: 0, last_error: None });
        }
        Ok(Some(Self { client, sources, paths }))
    }

    /// Tells the server what is known about the registries.
    pub(super) fn publish(&self, server: &McpServer) {
        let one = |one: &FollowedTag| FollowedSource {
            address: one.artifact.address(),
            digest: one.snapshot.as_ref().map(|snapshot| snapshot.digest.clone()),
            checked: one.checked,
            failures: one.failures,
        };
        server.set_sources(self.sources.iter().map(one).collect());
    }

    /// Asks all registries once. If something changed, serves it.
    pub(super) fn refresh_all(&mut self, server: &McpServer) {
        let mut is_changed = false;
        for one in &mut self.sources {
            is_changed |= one.refresh(&self.client);
        }
        if is_changed {
            let snapshots = self.sources.iter().filter_map(|one| one.snapshot.as_ref());
            let paths = self.paths.iter().cloned().chain(snapshots.map(|snapshot| snapshot.folder.clone())).collect();
            if let Err(error) = server.replace_paths(paths) {
                tracing::warn!(target: LOG_TARGET, "could not load pulled skills, serving the previous ones: {error}");
                return;
            }
        }
        self.publish(server);
    }

    /// Asks again and again, in a thread of its own, until the process ends.
    pub(super) fn follow(mut self, server: McpServer, interval: Duration) {
        std::thread::spawn(move || {
            // Nothing is ever sent: the thread waits for the time only.
            let (_sender, receiver) = std::sync::mpsc::channel::<()>();
            loop {
                self.refresh_all(&server);
                let _ = receiver.recv_timeout(interval);
            }
        });
    }
}

impl FollowedTag {
    /// Asks the registry. Returns whether something else is to be served.
    fn refresh(&mut self, client: &SourceClient) -> bool {
        let address = self.artifact.address();
        match self.artifact.refresh(client, &mut |note| tracing::warn!(target: LOG_TARGET, "{note}")) {
            Ok(snapshot) => {
                self.checked = Some(Instant::now());
                if self.last_error.take().is_some() {
                    tracing::warn!(target: LOG_TARGET, "`{address}` can be pulled again");
                }
                let is_changed = snapshot.is_some();
                self.snapshot = snapshot.or_else(|| self.snapshot.take());
                is_changed
            }
            Err(error) => {
                self.failures += 1;
                let message = error.to_string();
                if self.last_error.as_ref() != Some(&message) {
                    tracing::warn!(target: LOG_TARGET, "could not pull `{address}`, serving what was pulled before: {message}");
                    self.last_error = Some(message);
                }
                if self.snapshot.is_some() {
                    return false;
                }
                self.snapshot = self.artifact.load_last();
                self.snapshot.is_some()
            }
        }
    }
}
