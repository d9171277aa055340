//! The endpoints for an operator's programs: health, readiness and metrics.

use std::sync::atomic::Ordering;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use axum::routing::get;
use rep_library::SkillStatus;

use super::plain_response;
use crate::metrics::MetricGauge;
use crate::server::McpServer;

pub(super) fn operator_router(server: &McpServer) -> Router {
    Router::new()
        .route("/healthz", get(async || plain_response(StatusCode::OK, "ok\n")))
        .route("/readyz", get(report_readiness))
        .route("/metrics", get(report_metrics))
        .with_state(server.clone())
}

/// Whether the server can serve, which it cannot during the shutdown. Probes send no token, so they learn nothing else.
async fn report_readiness(State(server): State<McpServer>) -> Response {
    if *server.0.shutdown.borrow() {
        return plain_response(StatusCode::SERVICE_UNAVAILABLE, "ending\n");
    }
    plain_response(StatusCode::OK, "ready\n")
}

async fn report_metrics(State(server): State<McpServer>) -> Response {
    let (state, view) = (&server.0, server.view());
    let statuses = [
        SkillStatus::Active,
        SkillStatus::Hidden,
        SkillStatus::Shadowed,
        SkillStatus::Invalid,
        SkillStatus::Untrusted,
        SkillStatus::Disabled,
    ];
    let skills = statuses.into_iter().map(|status| {
        let count = view.catalog.entries.iter().filter(|entry| entry.status == status).count();
        (format!("status=\"{}\"", status.name()), count)
    });
    let gauge = |name, about, value| MetricGauge { name, about, values: vec![(String::new(), value)] };
    let confirmations = &state.confirmations;
    let gauges = [
        MetricGauge { name: "rep_skills", about: "Skills, by status.", values: skills.collect() },
        gauge("rep_runs_going", "Runs in progress on this server.", state.active_runs.lock().len()),
        gauge(
            "rep_questions_waiting",
            "Runs that wait for a confirmation in the dashboard.",
            confirmations.list_waiting().len(),
        ),
        gauge("rep_page_listeners", "Open pages of the dashboard.", confirmations.viewer_count()),
        gauge("rep_sessions", "MCP sessions of revision 2025-11-25.", state.sessions.load(Ordering::Relaxed)),
        MetricGauge {
            name: "rep_build_info",
            about: "The version of the server.",
            values: vec![(format!("version=\"{}\"", state.version), 1)],
        },
    ];
    let mut response = plain_response(StatusCode::OK, state.metrics.render_text(&gauges));
    let format = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, format);
    response
}
