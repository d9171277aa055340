//! Metrics in the Prometheus text format. `docs/serving.md` lists the names.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::tool_calls::CallOutcome;

/// The upper bounds of the response-time buckets, in seconds.
const LATENCY_BUCKETS: [(f64, &str); 10] = [
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

/// The methods that are counted by name. Others are counted as `other`, because clients can send any text.
const COUNTED_METHODS: [&str; 16] = [
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

/// Counters since the start of the server.
pub(crate) struct ServerMetrics {
    started: Instant,
    requests: Mutex<BTreeMap<(&'static str, u16), u64>>,
    methods: Mutex<BTreeMap<&'static str, u64>>,
    buckets: [AtomicU64; LATENCY_BUCKETS.len()],
    answers: AtomicU64,
    answers_us: AtomicU64,
    results: AtomicU64,
    errors: AtomicU64,
    questions: AtomicU64,
    pub(crate) reloads: AtomicU64,
}

impl Default for ServerMetrics {
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

impl ServerMetrics {
    /// Counts an HTTP response.
    pub(crate) fn count_response(&self, route: &'static str, status: u16, took: Duration) {
        *self.requests.lock().entry((route, status)).or_default() += 1;
        let seconds = took.as_secs_f64();
        for (bucket, (end, _)) in self.buckets.iter().zip(LATENCY_BUCKETS) {
            if seconds <= end {
                bucket.fetch_add(1, Ordering::Relaxed);
            }
        }
        self.answers.fetch_add(1, Ordering::Relaxed);
        self.answers_us.fetch_add(u64::try_from(took.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Returns the time since the server started.
    pub(crate) fn uptime(&self) -> Duration {
        self.started.elapsed()
    }

    /// Returns the number of refused HTTP requests by status.
    pub(crate) fn list_refusals(&self) -> Vec<(u16, u64)> {
        let mut refusals: BTreeMap<u16, u64> = BTreeMap::new();
        for ((_, status), count) in self.requests.lock().iter() {
            if matches!(status, 400..=499 | 503) && *status != 404 {
                *refusals.entry(*status).or_default() += count;
            }
        }
        refusals.into_iter().collect()
    }

    /// Counts a protocol request.
    pub(crate) fn count_method(&self, method: &str) {
        let name = COUNTED_METHODS.into_iter().find(|own| *own == method).unwrap_or("other");
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

    /// Renders all counters and the gauges.
    pub(crate) fn render_text(&self, gauges: &[MetricGauge]) -> String {
        let mut text = MetricsText::default();
        text.write_family("rep_http_requests_total", "counter", "HTTP requests, by route and status.");
        for ((route, status), count) in self.requests.lock().iter() {
            text.write_value("rep_http_requests_total", &format!("route=\"{route}\",status=\"{status}\""), count);
        }
        text.write_family("rep_http_request_seconds", "histogram", "Time until the response started.");
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        for (bucket, (_, end)) in self.buckets.iter().zip(LATENCY_BUCKETS) {
            text.write_value("rep_http_request_seconds_bucket", &format!("le=\"{end}\""), &load(bucket));
        }
        text.write_value("rep_http_request_seconds_bucket", "le=\"+Inf\"", &load(&self.answers));
        let seconds = Duration::from_micros(load(&self.answers_us)).as_secs_f64();
        text.write_value("rep_http_request_seconds_sum", "", &seconds);
        text.write_value("rep_http_request_seconds_count", "", &load(&self.answers));
        text.write_family("rep_mcp_requests_total", "counter", "MCP requests, by method.");
        for (method, count) in self.methods.lock().iter() {
            text.write_value("rep_mcp_requests_total", &format!("method=\"{method}\""), count);
        }
        text.write_family("rep_calls_total", "counter", "Calls of skill tools, by outcome.");
        for (outcome, count) in [("result", &self.results), ("error", &self.errors), ("question", &self.questions)] {
            text.write_value("rep_calls_total", &format!("outcome=\"{outcome}\""), &load(count));
        }
        text.write_family("rep_library_reloads_total", "counter", "Reloads of the skills after changes.");
        text.write_value("rep_library_reloads_total", "", &load(&self.reloads));
        text.write_family("rep_uptime_seconds", "gauge", "Time since the server started.");
        text.write_value("rep_uptime_seconds", "", &self.started.elapsed().as_secs());
        for gauge in gauges {
            text.write_family(gauge.name, "gauge", gauge.about);
            for (labels, value) in &gauge.values {
                text.write_value(gauge.name, labels, value);
            }
        }
        text.0
    }
}

/// A value that can go up and down.
pub(crate) struct MetricGauge {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) values: Vec<(String, usize)>,
}

#[derive(Default)]
struct MetricsText(String);

impl MetricsText {
    fn write_family(&mut self, name: &str, kind: &str, about: &str) {
        self.0.push_str(&format!("# HELP {name} {about}\n# TYPE {name} {kind}\n"));
    }

    fn write_value(&mut self, name: &str, labels: &str, value: &impl std::fmt::Display) {
        let labels = if labels.is_empty() { String::new() } else { format!("{{{labels}}}") };
        self.0.push_str(&format!("{name}{labels} {value}\n"));
    }
}
