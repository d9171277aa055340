//! What an operator wants to know about a server at a glance.

use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::catalog_view::UnservedSkill;
use crate::client_activity::ActiveClient;
use crate::server::McpServer;

/// The state of a server at one moment.
#[derive(Clone, Debug)]
pub struct ServerOverview {
    /// The time since the start.
    pub uptime: Duration,
    /// The clients that called recently, the one that called last first.
    pub clients: Vec<ActiveClient>,
    /// The number of open sessions of revision 2025-11-25.
    pub sessions: usize,
    /// The number of calls since the start, and of those that failed.
    pub calls: u64,
    /// The number of failed calls since the start.
    pub errors: u64,
    /// The calls per second in the last minute.
    pub calls_per_second: f64,
    /// The share of failed calls in the last minute, from 0 to 1.
    pub error_share: f64,
    /// The latency of the calls in the last minute, or `None` without calls.
    pub latency: Option<CallLatency>,
    /// The number of reloads after skills changed.
    pub reloads: u64,
    /// The time since the last reload, or `None` if nothing was reloaded.
    pub last_reload: Option<Duration>,
    /// Whether changes on disk are watched.
    pub is_watching: bool,
    /// The record of calls, or `None` if calls are not recorded.
    pub record: Option<RecordStatus>,
    /// The refused HTTP requests since the start, by status, such as `(401, 12)`.
    pub refusals: Vec<(u16, u64)>,
    /// The skills that `skills/list` does not contain, with the reason.
    pub unserved_skills: Vec<UnservedSkill>,
    /// Whether the server is shutting down.
    pub is_ending: bool,
}

/// The latency of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallLatency {
    /// Half of the calls took no longer.
    pub median: Duration,
    /// 95 % of the calls took no longer.
    pub p95: Duration,
    /// The longest call.
    pub max: Duration,
}

/// The record of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordStatus {
    /// The size of the newest file, in bytes.
    pub bytes: u64,
    /// Whether calls can be recorded. If not, all calls are refused.
    pub can_record: bool,
}

impl McpServer {
    /// Returns the state of the server. The first call after a reload reads every SKILL.md.
    pub fn overview(&self) -> ServerOverview {
        let state = &self.0;
        let recent = state.activity.recent_calls();
        let (calls, errors) = state.activity.count_totals();
        let at = |share: usize| recent.durations.get(recent.durations.len().saturating_sub(1) * share / 100).copied();
        let latency = (|| Some(CallLatency { median: at(50)?, p95: at(95)?, max: at(100)? }))();
        #[expect(clippy::cast_precision_loss, reason = "there are at most a few thousand recent calls")]
        let (count, failed) = (recent.count as f64, recent.errors as f64);
        ServerOverview {
            uptime: state.metrics.uptime(),
            clients: state.activity.list_clients(),
            sessions: state.sessions.load(Ordering::Relaxed),
            calls,
            errors,
            calls_per_second: count / recent.span.as_secs_f64().max(1.0),
            error_share: if recent.count == 0 { 0.0 } else { failed / count },
            latency,
            reloads: state.metrics.reloads.load(Ordering::Relaxed),
            last_reload: state.last_reload.lock().map(|at| at.elapsed()),
            is_watching: state.is_watching(),
            record: state
                .recorder
                .as_ref()
                .map(|recorder| RecordStatus { bytes: recorder.record_bytes(), can_record: recorder.can_record() }),
            refusals: state.metrics.list_refusals(),
            unserved_skills: state.view().unserved_skills().to_vec(),
            is_ending: self.is_draining(),
        }
    }
}
