//! Metrics in the text format of Prometheus. `docs/serving.md` lists the names.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::tool_calls::CallOutcome;

/// The upper bounds of the buckets of response times, in seconds.
const BUCKETS: [(f64, &str); 10] = [
    (0.001, "0.001"),
    (0.005, "0.005"),
    (0.01, "0.01"),
    (0.025, "0.025"),
    (0.05, "0.05"),
    (0.1, "0.1"),
    (0.25, "0.25"),
    (0.5, "0.5"),
    (1.0, "1"),
    (5.0, "5"),
];

/// The methods that are counted by name. All others are `other`, because clients can send any text.
const METHODS: [&str; 16] = [
    "completion/complete",
    "prompts/get",
    "prompts/list",
    "resources/directory/read",
    "resources/list",
    "resources/read",
    "resources/subscribe",
    "resources/templates/list",
    "resources/unsubscribe",
    "skills/get",
    "skills/list",
    "tasks/cancel",
    "tasks/get",
    "tasks/update",
    "tools/call",
    "tools/list",
];

/// Counters since the start.
pub(crate) struct Metrics {
    started: Instant,
    requests: Mutex<BTreeMap<(&'static str, u16), u64>>,
    methods: Mutex<BTreeMap<&'static str, u64>>,
    buckets: [AtomicU64; BUCKETS.len()],
    answers: AtomicU64,
    answers_us: AtomicU64,
    results: AtomicU64,
    errors: AtomicU64,
    questions: AtomicU64,
    pub(crate) reloads: AtomicU64,
}

impl Default for Metrics {
    fn default() -> Self {
        Self {
            started: Instant::now(),
            requests: Mutex::default(),
            methods: Mutex::default(),
            buckets: Default::default(),
            answers: AtomicU64::new(0),
            answers_us: AtomicU64::new(0),
            results: AtomicU64::new(0),
            errors: AtomicU64::new(0),
            questions: AtomicU64::new(0),
            reloads: AtomicU64::new(0),
        }
    }
}

impl Metrics {
    /// Counts a response over HTTP.
    pub(crate) fn count_response(&self, route: &'static str, status: u16, took: Duration) {
        *self.requests.lock().entry((route, status)).or_default() += 1;
        let seconds = took.as_secs_f64();
        for (bucket, (end, _)) in self.buckets.iter().zip(BUCKETS) {
            if seconds <= end {
                bucket.fetch_add(1, Ordering::Relaxed);
            }
        }
        self.answers.fetch_add(1, Ordering::Relaxed);
        self.answers_us.fetch_add(u64::try_from(took.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Counts a request of the protocol.
    pub(crate) fn count_method(&self, method: &str) {
        let name = METHODS.into_iter().find(|own| *own == method).unwrap_or("other");
        *self.methods.lock().entry(name).or_default() += 1;
    }

    /// Counts the outcome of a call of a skill's tool.
    pub(crate) fn count_call(&self, outcome: CallOutcome) {
        let count = match outcome {
            CallOutcome::Result => &self.results,
            CallOutcome::Error => &self.errors,
            CallOutcome::Question => &self.questions,
        };
        count.fetch_add(1, Ordering::Relaxed);
    }

    /// Renders all counters, and the gauges.
    pub(crate) fn render(&self, gauges: &[Gauge]) -> String {
        let mut text = MetricsText::default();
        text.family("rep_http_requests_total", "counter", "Requests over HTTP, by route and status.");
        for ((route, status), count) in self.requests.lock().iter() {
            text.value("rep_http_requests_total", &format!("route=\"{route}\",status=\"{status}\""), count);
        }
        text.family("rep_http_request_seconds", "histogram", "Time until an answer began.");
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        for (bucket, (_, end)) in self.buckets.iter().zip(BUCKETS) {
            text.value("rep_http_request_seconds_bucket", &format!("le=\"{end}\""), &load(bucket));
        }
        text.value("rep_http_request_seconds_bucket", "le=\"+Inf\"", &load(&self.answers));
        let seconds = Duration::from_micros(load(&self.answers_us)).as_secs_f64();
        text.value("rep_http_request_seconds_sum", "", &seconds);
        text.value("rep_http_request_seconds_count", "", &load(&self.answers));
        text.family("rep_mcp_requests_total", "counter", "Requests of the protocol, by method.");
        for (method, count) in self.methods.lock().iter() {
            text.value("rep_mcp_requests_total", &format!("method=\"{method}\""), count);
        }
        text.family("rep_calls_total", "counter", "Calls of tools of skills, by what came of them.");
        for (outcome, count) in [("result", &self.results), ("error", &self.errors), ("question", &self.questions)] {
            text.value("rep_calls_total", &format!("outcome=\"{outcome}\""), &load(count));
        }
        text.family("rep_library_reloads_total", "counter", "How often the skills changed and were read again.");
        text.value("rep_library_reloads_total", "", &load(&self.reloads));
        text.family("rep_uptime_seconds", "gauge", "Time since the start.");
        text.value("rep_uptime_seconds", "", &self.started.elapsed().as_secs());
        for gauge in gauges {
            text.family(gauge.name, "gauge", gauge.about);
            for (labels, value) in &gauge.values {
                text.value(gauge.name, labels, value);
            }
        }
        text.0
    }
}

/// A value that goes up and down.
pub(crate) struct Gauge {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) values: Vec<(String, usize)>,
}

#[derive(Default)]
struct MetricsText(String);

impl MetricsText {
    fn family(&mut self, name: &str, kind: &str, about: &str) {
        self.0.push_str(&format!("# HELP {name} {about}\n# TYPE {name} {kind}\n"));
    }

    fn value(&mut self, name: &str, labels: &str, value: &impl std::fmt::Display) {
        let labels = if labels.is_empty() { String::new() } else { format!("{{{labels}}}") };
        self.0.push_str(&format!("{name}{labels} {value}\n"));
    }
}
