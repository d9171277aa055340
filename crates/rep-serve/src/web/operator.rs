//! What an operator's programs ask: whether it lives, whether it can answer, and what it counted.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use rep_library::Status;

use super::{Web, plain, sent};
use crate::metrics::Gauge;

/// It lives.
pub(super) async fn healthy() -> Response {
    plain(StatusCode::OK, "ok\n")
}

/// It can answer: not where it is about to end. Whoever asks bears no token, and is told nothing else.
pub(super) async fn ready(State(web): State<Arc<Web>>) -> Response {
    if *web.shared.ending.borrow() {
        return plain(StatusCode::SERVICE_UNAVAILABLE, "ending\n");
    }
    plain(StatusCode::OK, "ready\n")
}

/// What was counted.
pub(super) async fn metrics(State(web): State<Arc<Web>>) -> Response {
    let shelf = web.shared.shelf();
    let statuses =
        [Status::Active, Status::Hidden, Status::Shadowed, Status::Invalid, Status::Untrusted, Status::Disabled];
    let skills = statuses.into_iter().map(|status| {
        let count = shelf.catalog.entries.iter().filter(|entry| entry.status == status).count();
        (format!("status=\"{}\"", status.name()), count)
    });
    let one = |name, about, value| Gauge { name, about, values: vec![(String::new(), value)] };
    let running = web.shared.running.lock().unwrap_or_else(PoisonError::into_inner).len();
    let gauges = [
        Gauge { name: "rep_skills", about: "Skills, by status.", values: skills.collect() },
        one("rep_runs_going", "Runs of this server that go on.", running),
        one("rep_questions_waiting", "Runs that wait for an answer on the page.", web.shared.desk.questions().len()),
        one("rep_page_listeners", "Pages that are open and listen.", web.shared.desk.listeners()),
        one("rep_sessions", "MCP sessions of the revision 2025-11-25.", web.shared.sessions.load(Ordering::Relaxed)),
        Gauge {
            name: "rep_build_info",
            about: "The version.",
            values: vec![(format!("version=\"{}\"", web.shared.version), 1)],
        },
    ];
    sent("text/plain; version=0.0.4; charset=utf-8", "no-store", web.shared.metrics.text(&gauges))
}
