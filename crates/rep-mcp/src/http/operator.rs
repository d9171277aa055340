//! The endpoints for an operator's programs: health, readiness and metrics.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::Response;
use axum::routing::get;
use rep_library::SkillStatus;

use super::{Authenticator, plain_response};
use crate::catalog_view::UnservedSkill;
use crate::metrics::MetricGauge;
use crate::server::{FollowedSource, McpServer};

pub(super) fn operator_router(server: &McpServer, authenticator: &Arc<Authenticator>) -> Router {
    let readiness = get(report_readiness).with_state((server.clone(), Arc::clone(authenticator)));
    Router::new()
        .route("/healthz", get(async || plain_response(StatusCode::OK, "ok\n")))
        .route("/readyz", readiness)
        .route("/metrics", get(report_metrics))
        .with_state(server.clone())
}

/// Whether the server can serve, which it cannot during the shutdown. Probes send no token: they learn how many skills
/// are invalid, and an operator also learns which, and why.
async fn report_readiness(
    State((server, authenticator)): State<(McpServer, Arc<Authenticator>)>,
    headers: HeaderMap,
) -> Response {
    if server.is_draining() {
        return plain_response(StatusCode::SERVICE_UNAVAILABLE, "ending\n");
    }
    if server.0.recorder.as_ref().is_some_and(|recorder| !recorder.can_record()) {
        return plain_response(StatusCode::SERVICE_UNAVAILABLE, "calls cannot be recorded\n");
    }
    let (missing, all) = {
        let sources = server.0.sources.lock();
        (sources.iter().filter(|source| source.digest.is_none()).count(), sources.len())
    };
    if missing > 0 {
        return plain_response(
            StatusCode::SERVICE_UNAVAILABLE,
            format!("not pulled yet: {missing} of {all} registries\n"),
        );
    }
    let view = server.view();
    let mut text = String::from("ready\n");
    let is_operator = authenticator.is_operator(&headers).await;
    let count = view.catalog.list_invalid().count();
    if count > 0 {
        text.push_str(&format!("invalid skills: {count}\n"));
        if is_operator {
            for entry in view.catalog.list_invalid() {
                let lines = entry.list_violations().into_iter().map(|violation| violation.to_line());
                let lines = lines.map(|line| format!("{}: {line}\n", entry.qualified_name));
                text.push_str(&lines.collect::<String>());
            }
        }
    }
    // The list is computed in the background; a probe does not wait for it.
    let unlisted = view.known_unserved_skills().iter().filter(|skill| skill.is_loadable);
    let unlisted: Vec<&UnservedSkill> = unlisted.collect();
    if !unlisted.is_empty() {
        text.push_str(&format!("skills not listed: {}\n", unlisted.len()));
        if is_operator {
            let lines = unlisted.iter().map(|skill| format!("{}: {}\n", skill.name, skill.reason));
            text.push_str(&lines.collect::<String>());
        }
    }
    plain_response(StatusCode::OK, text)
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
    let mut gauges = source_gauges(&state.sources.lock());
    gauges.extend([
        MetricGauge { name: "rep_skills", about: "Skills, by status.", values: skills.collect() },
        gauge(
            "rep_skills_unlisted",
            "Skills that can be loaded and that `skills/list` does not contain.",
            view.known_unserved_skills().iter().filter(|skill| skill.is_loadable).count(),
        ),
        gauge("rep_calls_unrecordable", "1 while calls are refused because they cannot be recorded.", {
            usize::from(state.recorder.as_ref().is_some_and(|recorder| !recorder.can_record()))
        }),
        gauge("rep_runs_going", "Runs in progress on this server.", {
            state.active_runs.lock().values().filter(|run| *run.phase.borrow()).count()
        }),
        gauge("rep_runs_waiting", "Calls that wait for other runs to end.", state.run_slots.waiting_count()),
        gauge(
            "rep_questions_waiting",
            "Runs that wait for a confirmation in the dashboard.",
            confirmations.waiting_count(),
        ),
        gauge("rep_page_listeners", "Open pages of the dashboard.", confirmations.viewer_count()),
        gauge("rep_sessions", "MCP sessions of revision 2025-11-25.", state.sessions.load(Ordering::Relaxed)),
        MetricGauge {
            name: "rep_build_info",
            about: "The version of the server.",
            values: vec![(format!("version=\"{}\"", state.version), 1)],
        },
    ]);
    let mut response = plain_response(StatusCode::OK, state.metrics.render_text(&gauges));
    let format = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    response.headers_mut().insert(header::CONTENT_TYPE, format);
    response
}

/// Returns what is known about the registries that the skills come from.
fn source_gauges(sources: &[FollowedSource]) -> Vec<MetricGauge> {
    if sources.is_empty() {
        return Vec::new();
    }
    let label = |source: &FollowedSource| format!("source=\"{}\"", source.address.replace(['\\', '"', '\n'], ""));
    let digests = sources
        .iter()
        .filter_map(|source| Some((format!("{},digest=\"{}\"", label(source), source.digest.as_ref()?), 1)));
    let ages = sources.iter().filter_map(|source| {
        Some((label(source), usize::try_from(source.checked?.elapsed().as_secs()).unwrap_or(usize::MAX)))
    });
    let failures = sources.iter().map(|source| (label(source), source.failures));
    vec![
        MetricGauge {
            name: "rep_source_digest",
            about: "The digest of what is served from each registry.",
            values: digests.collect(),
        },
        MetricGauge {
            name: "rep_source_age_seconds",
            about: "Seconds since each registry was last asked successfully.",
            values: ages.collect(),
        },
        MetricGauge {
            name: "rep_source_failures",
            about: "How often a registry could not be asked, or what it had was refused.",
            values: failures.collect(),
        },
    ]
}
