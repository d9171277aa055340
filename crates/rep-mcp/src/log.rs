//! The server's log: one line per request, and warnings for the operator.
//!
//! The crate emits `tracing` events, so that an embedding program can collect them with its own subscriber.
//! [`init_log`] installs the subscriber of the command line, which writes requests as text or as JSON objects with
//! stable keys. It ignores events of other crates, and does not use spans.

use std::fmt::Debug;

use serde_json::{Map, Value};
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// The target of request events.
const REQUEST_TARGET: &str = "rep_mcp::request";

/// The format of logged requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// A line of text.
    Text,
    /// One JSON object per line.
    Json,
}

/// The options of the log.
pub struct LogOptions {
    /// The format of requests, or `None` to not log them.
    pub requests: Option<LogFormat>,
    /// Whether warnings are logged.
    pub warnings: bool,
    /// Writes a line.
    pub write: Box<dyn Fn(&str) + Send + Sync>,
    /// Returns the current time in the format of the log.
    pub now: fn() -> String,
}

/// Logs the events of this process. Does nothing if the process already has a subscriber.
pub fn init_log(options: LogOptions) {
    // An embedding program that installed a subscriber collects the events itself.
    let _ = tracing::subscriber::set_global_default(LogSubscriber(options));
}

struct LogSubscriber(LogOptions);

impl Subscriber for LogSubscriber {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        let is_ours = metadata.target().starts_with("rep_") && metadata.is_event();
        let is_request = metadata.target() == REQUEST_TARGET;
        is_ours
            && if is_request { self.0.requests.is_some() } else { self.0.warnings && *metadata.level() <= Level::WARN }
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::INFO)
    }

    fn event(&self, event: &Event<'_>) {
        let mut fields = EventFields::default();
        event.record(&mut fields);
        let line = match self.0.requests {
            _ if event.metadata().target() != REQUEST_TARGET => fields.message,
            Some(LogFormat::Json) => fields.to_json((self.0.now)()).to_string(),
            Some(LogFormat::Text) | None => fields.to_text(),
        };
        (self.0.write)(&line);
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        // Spans are never enabled.
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// The message of an event, and its other fields in order.
#[derive(Default)]
struct EventFields {
    message: String,
    fields: Map<String, Value>,
}

impl EventFields {
    /// Renders a line of text. Control characters in names are escaped, so it is always one line.
    fn to_text(&self) -> String {
        let escape = |letter: char| {
            if letter.is_control() { letter.escape_default().collect() } else { String::from(letter) }
        };
        let message: String = self.message.chars().map(escape).collect();
        format!("request {}: {message}", self.fields.get("request").and_then(Value::as_str).unwrap_or("-"))
    }

    /// Renders a JSON object with the time and all fields except the message.
    fn to_json(&self, now: String) -> Value {
        let mut object = Map::from_iter([("at".to_owned(), now.into())]);
        object.extend(self.fields.clone());
        Value::Object(object)
    }

    fn insert(&mut self, field: &Field, value: impl Into<Value>) {
        self.fields.insert(field.name().to_owned(), value.into());
    }
}

impl Visit for EventFields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.insert(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.insert(field, value);
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        self.insert(field, value);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let text = format!("{value:?}");
        if field.name() == "message" { self.message = text } else { self.insert(field, text) }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use parking_lot::Mutex;

    use super::*;

    fn collect_log_lines(requests: Option<LogFormat>, warnings: bool, work: impl FnOnce()) -> Vec<String> {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let written = Arc::clone(&lines);
        let write = Box::new(move |line: &str| written.lock().push(line.to_owned()));
        let options = LogOptions { requests, warnings, write, now: || "now".to_owned() };
        tracing::subscriber::with_default(LogSubscriber(options), work);
        let lines = lines.lock();
        lines.clone()
    }

    fn emit_test_events() {
        let line = "resources/read skill://x\nrequest 2: POST /mcp 200";
        tracing::info!(target: "rep_mcp::request", request = "1", mcp = "resources/read", ms = 0.5, "{line}");
        tracing::warn!("something {}", "odd");
        tracing::warn!(target: "rmcp", "of another crate");
    }

    #[test]
    fn a_request_is_one_line_whatever_names_a_client_uses() {
        let lines = collect_log_lines(Some(LogFormat::Text), false, emit_test_events);
        assert_eq!(lines, ["request 1: resources/read skill://x\\nrequest 2: POST /mcp 200"]);
    }

    #[test]
    fn a_request_is_an_object_with_stable_keys() {
        let lines = collect_log_lines(Some(LogFormat::Json), true, emit_test_events);
        assert_eq!(lines, [r#"{"at":"now","request":"1","mcp":"resources/read","ms":0.5}"#, "something odd"]);
        assert!(collect_log_lines(None, false, emit_test_events).is_empty());
    }
}
