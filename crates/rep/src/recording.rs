//! The record of what clients ask the server, beside the one of what runs.

use std::time::SystemTime;

use rep_audit::{self as audit, Audit};
use rep_serve::{Calls, Made, Talk};
use serde_json::{Map, Value, json};

use crate::exit::Failure;
use crate::library::data_folder;
use crate::runner;

/// Keeps every call of a client.
pub(crate) struct Recording(audit::Calls);

impl Recording {
    /// Begins the record of a server at a place: an address, or stdio.
    pub(crate) fn begin(place: &str, talk: &Talk) -> Result<Self, Failure> {
        let talk = std::sync::Arc::clone(talk);
        let kept = data_folder().and_then(|folder| {
            let about = json!({ "who": runner::who(), "place": place, "version": env!("CARGO_PKG_VERSION") });
            Ok(audit::Calls::begin(Audit::of_calls(&folder), fields(&about), SystemTime::now(), move |text| {
                talk(text);
            })?)
        });
        kept.map(Self).map_err(|failure| failure.hint("every call is recorded; with --no-record only runs are"))
    }

    /// Waits until every call is on the disk.
    pub(crate) fn finish(&self) -> Result<(), Failure> {
        match self.0.finish() {
            0 => Ok(()),
            count => {
                let words = if count == 1 { "call was" } else { "calls were" };
                let message = format!("{count} {words} answered and could not be recorded");
                Err(Failure::unable("UNRECORDED", message).hint("`rep audit --calls` shows those before"))
            }
        }
    }
}

impl Calls for Recording {
    fn is_open(&self) -> bool {
        self.0.is_open()
    }

    fn keep(&self, made: Made) -> bool {
        let record = json!({
            "who": made.who,
            "bearer": made.bearer,
            "request": made.request,
            "method": made.method,
            "target": made.target,
            "skill": made.skill,
            "input_digest": made.input_digest,
            "outcome": made.outcome,
            "duration_ms": made.duration_ms,
        });
        self.0.keep(fields(&record), SystemTime::now())
    }
}

/// What an object says; what it says nothing of is left out.
fn fields(value: &Value) -> Map<String, Value> {
    let fields = value.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
    fields.map(|(name, value)| (name.clone(), value.clone())).collect()
}
