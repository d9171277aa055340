//! The endpoints for an operator's programs: health, readiness and metrics.

use std::sync::atomic::Ordering;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use axum::routing::get;
use rep_library::Status;

use super::plain_response;
use crate::metrics::Gauge;
use crate::server::McpServer;

pub(super) fn router(server: &McpServer) -> Router {
    Router::new()
        .route("/healthz", get(async || plain_response(StatusCode::OK, "ok\n")))
        .route("/readyz", get(readiness))
        .route("/metrics", get(metrics))
        .with_state(server.clone())
}

/// Whether it can serve: not during the shutdown. A probe carries no token, so it learns nothing else.
async fn readiness(State(server): State<McpServer>) -> Response {
    if *server.0.shutdown.borrow() {
        return plain_response(StatusCode::SERVICE_UNAVAILABLE, "ending\n");
    }
    plain_response(StatusCode::OK, "ready\n")
}

async fn metrics(State(server): State<McpServer>) -> Response {
    let (state, view) = (&server.0, server.view());
    let statuses =
        [Status::Active, Status::Hidden, Status::Shadowed, Status::Invalid, Status::Untrusted, Status::Disabled];
    let skills = statuses.into_iter().map(|status| {
        let count = view.catalog.entries.iter().filter(|entry| entry.status == status).count();
        (format!("status=\"{}\"", status.name()), count)
    });
    let gauge = |name, about, value| Gauge { name, about, values: vec![(String::new(), value)] };
    let confirmations = &state.confirmations;
    let gauges = [
        Gauge { name: "rep_skills", about: "Skills, by status.", values: skills.collect() },
        gauge("rep_runs_going", "Runs of this server that have not ended.", state.active_runs.lock().len()),
        gauge(
            "rep_questions_waiting",
            "Runs that wait for a confirmation in the dashboard.",
            confirmations.waiting().len(),
        ),
        gauge("rep_page_listeners", "Open pages of the dashboard.", confirmations.viewers()),
        gauge("rep_sessions", "MCP sessions of the revision 2025-11-25.", state.sessions.load(Ordering::Relaxed)),
        Gauge {
            name: "rep_build_info",
            about: "The version.",
            values: vec![(format!("version=\"{}\"", state.version), 1)],
        },
    ];
    let mut response = plain_response(StatusCode::OK, state.metrics.render(&gauges));
    let format = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, format);
    response
}
