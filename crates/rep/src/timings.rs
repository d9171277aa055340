//! Collects how long the phases of a run take, for `--timings`.
//!
//! The libraries name their phases as `tracing` spans, which cost nothing while nobody collects them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde_json::{Value, json};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// The phases of one command, in the order in which they started.
#[derive(Clone)]
pub(crate) struct PhaseTimings {
    started: Instant,
    phases: Arc<Mutex<Vec<Phase>>>,
}

struct Phase {
    name: &'static str,
    entered: Option<Instant>,
    took: Duration,
}

impl PhaseTimings {
    /// Starts collecting the phases of this process.
    pub(crate) fn start() -> Self {
        let timings = Self { started: Instant::now(), phases: Arc::default() };
        let collector = PhaseCollector { phases: Arc::clone(&timings.phases), next: AtomicU64::new(1) };
        // It fails only if a subscriber is already set, and no other one is set by a command that runs a tool.
        let _ = tracing::subscriber::set_global_default(collector);
        timings
    }

    /// Renders one line for each phase, and the total.
    pub(crate) fn render(&self) -> String {
        let phases = self.phases.lock();
        let mut lines: Vec<String> = phases.iter().map(|phase| render_line(phase.name, phase.took)).collect();
        let named: Duration = phases.iter().map(|phase| phase.took).sum();
        let total = self.started.elapsed();
        lines.push(render_line("everything else", total.saturating_sub(named)));
        lines.push(render_line("total", total));
        lines.join("\n")
    }

    /// Returns the phases and the total, in milliseconds.
    pub(crate) fn to_json(&self) -> Value {
        let phases = self.phases.lock();
        let all: Vec<Value> =
            phases.iter().map(|phase| json!({ "phase": phase.name, "ms": milliseconds(phase.took) })).collect();
        json!({ "phases": all, "total_ms": milliseconds(self.started.elapsed()) })
    }
}

fn render_line(name: &str, took: Duration) -> String {
    format!("{:>9.2} ms  {name}", took.as_secs_f64() * 1e3)
}

/// Returns milliseconds with three digits.
fn milliseconds(took: Duration) -> f64 {
    (took.as_secs_f64() * 1e6).round() / 1e3
}

struct PhaseCollector {
    phases: Arc<Mutex<Vec<Phase>>>,
    next: AtomicU64,
}

impl PhaseCollector {
    fn with_phase(&self, id: &Id, change: impl FnOnce(&mut Phase)) {
        let at = usize::try_from(id.into_u64() - 1).unwrap_or(usize::MAX);
        if let Some(phase) = self.phases.lock().get_mut(at) {
            change(phase);
        }
    }
}

impl Subscriber for PhaseCollector {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_span() && metadata.target().starts_with("rep")
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut phases = self.phases.lock();
        phases.push(Phase { name: span.metadata().name(), entered: None, took: Duration::ZERO });
        Id::from_u64(self.next.fetch_add(1, Ordering::Relaxed))
    }

    fn enter(&self, span: &Id) {
        self.with_phase(span, |phase| phase.entered = Some(Instant::now()));
    }

    fn exit(&self, span: &Id) {
        self.with_phase(span, |phase| {
            phase.took += phase.entered.take().map(|entered| entered.elapsed()).unwrap_or_default();
        });
    }

    fn record(&self, _span: &Id, _values: &Record<'_>) {}

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn event(&self, _event: &Event<'_>) {}
}
