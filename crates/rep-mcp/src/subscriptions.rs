//! Notifies clients of changes to lists and to the resources that they subscribed to.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use rmcp::RoleServer;
use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::{Peer, SubscriptionSink};
use serde_json::json;
use tokio::sync::watch;

use crate::catalog_view::{CatalogView, ViewScope, sha256_digest};
use crate::resources;
use crate::server::{ListChanges, ServerState};

/// The maximum number of resources that a client may subscribe to.
pub(crate) const SUBSCRIPTIONS_MAX: usize = 1000;

/// The resources that a client subscribed to, with their last known digest.
pub(crate) type ResourceSubscriptions = Arc<Mutex<BTreeMap<String, Option<String>>>>;

/// A subscriber: a session of 2025-11-25, or a stream of 2026-07-28.
pub(crate) enum ChangeSubscriber {
    Session(Peer<RoleServer>, ResourceSubscriptions),
    Stream(SubscriptionSink, ResourceSubscriptions),
}

/// Returns the digest of the resource at `uri`, or `None` if it does not exist.
pub(crate) fn resource_digest(view: &CatalogView, uri: &str) -> Option<String> {
    let contents = resources::read_resource(view, uri).ok()?;
    Some(sha256_digest(json!(contents).to_string().as_bytes()))
}

impl ChangeSubscriber {
    /// Notifies the client of the changes. Returns `false` if the client is gone.
    async fn notify_of_changes(&self, before: ListChanges, now: ListChanges, updated: &[String]) -> bool {
        match self {
            ChangeSubscriber::Session(peer, _) => {
                let mut is_connected = !peer.is_transport_closed();
                if now.tools != before.tools {
                    is_connected &= peer.notify_tool_list_changed().await.is_ok();
                }
                if now.prompts != before.prompts {
                    is_connected &= peer.notify_prompt_list_changed().await.is_ok();
                }
                if now.resources != before.resources {
                    is_connected &= peer.notify_resource_list_changed().await.is_ok();
                }
                for uri in updated {
                    let param = ResourceUpdatedNotificationParam::new(uri);
                    is_connected &= peer.notify_resource_updated(param).await.is_ok();
                }
                is_connected
            }
            ChangeSubscriber::Stream(sink, _) => {
                let wanted = sink.accepted();
                let mut is_connected = true;
                if now.tools != before.tools && wanted.tools_list_changed == Some(true) {
                    is_connected &= sink.notify_tool_list_changed().await.is_ok();
                }
                if now.prompts != before.prompts && wanted.prompts_list_changed == Some(true) {
                    is_connected &= sink.notify_prompt_list_changed().await.is_ok();
                }
                if now.resources != before.resources && wanted.resources_list_changed == Some(true) {
                    is_connected &= sink.notify_resource_list_changed().await.is_ok();
                }
                for uri in updated {
                    is_connected &= sink.notify_resource_updated(uri.clone()).await.is_ok();
                }
                is_connected
            }
        }
    }

    fn subscriptions(&self) -> &ResourceSubscriptions {
        match self {
            ChangeSubscriber::Session(_, subscriptions) | ChangeSubscriber::Stream(_, subscriptions) => subscriptions,
        }
    }
}

/// Notifies a subscriber of every change in its part of the library until the client or the connection's handler is gone.
pub(crate) async fn notify_changes(
    subscriber: ChangeSubscriber,
    (state, scope): (Weak<ServerState>, ViewScope),
    mut changes: watch::Receiver<ListChanges>,
    mut alive: watch::Receiver<()>,
) {
    let mut before = *changes.borrow_and_update();
    loop {
        tokio::select! {
            changed = changes.changed() => if changed.is_err() { return },
            _ = alive.changed() => return,
        }
        let now = *changes.borrow_and_update();
        let Some(state) = state.upgrade() else { return };
        let subscriptions = Arc::clone(subscriber.subscriptions());
        let scope = scope.clone();
        let take = move || take_updated_resources(&state.view_within(&scope), &subscriptions);
        let updated = tokio::task::spawn_blocking(take).await;
        if !subscriber.notify_of_changes(before, now, &updated.unwrap_or_default()).await {
            return;
        }
        before = now;
    }
}

/// Returns the subscribed resources that changed, and updates their digests.
fn take_updated_resources(view: &CatalogView, subscriptions: &Mutex<BTreeMap<String, Option<String>>>) -> Vec<String> {
    let mut subscriptions = subscriptions.lock();
    let mut updated = Vec::new();
    for (uri, known) in subscriptions.iter_mut() {
        let now = resource_digest(view, uri);
        if *known != now {
            *known = now;
            updated.push(uri.clone());
        }
    }
    updated
}
