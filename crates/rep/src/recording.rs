//! The record of what clients ask the server, beside the one of what runs.

use std::time::SystemTime;

use rep_audit::{CallRecord, CallRecorder};
use rep_runtime::Runtime;
use rep_serve::{Calls, Made, Talk};

use crate::exit::Failure;

/// Keeps every call of a client.
pub(crate) struct Recording(CallRecorder);

impl Recording {
    /// Begins the record of a server at a place: an address, or stdio.
    pub(crate) fn begin(runtime: &Runtime, place: &str, talk: &Talk) -> Result<Self, Failure> {
        let talk = std::sync::Arc::clone(talk);
        let recorder = runtime.record_calls(place, env!("CARGO_PKG_VERSION"), move |text| talk(text));
        recorder
            .map(Self)
            .map_err(|error| Failure::from(error).hint("every call is recorded; with --no-record only runs are"))
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
        let record = CallRecord {
            who: made.who,
            bearer: made.bearer,
            request: made.request,
            method: made.method,
            target: made.target,
            skill: made.skill,
            input_digest: made.input_digest,
            outcome: made.outcome,
            duration_ms: made.duration_ms,
        };
        self.0.record(&record, SystemTime::now())
    }
}
