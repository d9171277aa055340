//! Queries past runs, client calls and running tasks, for the terminal, the server and the dashboard.
#![expect(clippy::disallowed_methods, reason = "a fingerprint of the records is taken from their files")]

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};

pub use rep_audit::RecordPosition;
use rep_audit::{
    AuditLog, AuditVerification, AuditedRun, CallRecorder, LogRotation, for_each_new_record, for_each_record,
    read_runs, verify_log,
};
use rep_storage::time;
use serde_json::{Map, Value, json};

use super::{Runtime, current_time};
use crate::error::{CallError, ErrorCode};
use crate::task::{Task, TaskStore};

/// A filter for records.
#[derive(Clone, Debug, Default)]
pub struct RecordFilter {
    /// Only records of this skill.
    pub skill: Option<String>,
    /// Only records since this time, as sortable text.
    pub since: Option<String>,
    /// Only runs in this state.
    pub state: Option<String>,
    /// Only runs with denials.
    pub has_denials: bool,
    /// The maximum number of records, newest first; all if `None`.
    pub limit: Option<usize>,
}

impl RecordFilter {
    /// Creates a filter by skill and start time: a date, a date with a time, or an age (`15m`, `2h`, `3d`).
    pub fn new(skill: Option<&str>, since: Option<&str>) -> Result<Self, CallError> {
        let since = since.map(|word| {
            let unknown = || {
                CallError::unable(ErrorCode::Usage, format!("`{word}` is not a date or duration"))
                    .with_remedy("write it as 2026-11-01, 15m, 2h or 3d")
            };
            time::parse(word, current_time()).map(time::format_timestamp).ok_or_else(unknown)
        });
        Ok(Self { skill: skill.map(str::to_owned), since: since.transpose()?, ..Self::default() })
    }

    fn matches_skill_and_time(&self, name: &str, at: &str) -> bool {
        let is_named = |skill: &String| name == skill || name.rsplit(':').next() == Some(skill);
        self.skill.as_ref().is_none_or(is_named) && self.since.as_deref().is_none_or(|since| at >= since)
    }

    fn matches_run(&self, run: &AuditedRun) -> bool {
        self.matches_skill_and_time(run.text_field("skill"), run.started_at())
            && self.state.as_deref().is_none_or(|state| run.state.name() == state)
            && (!self.has_denials || !run.denials().is_empty())
    }

    fn matches_call(&self, record: &Value) -> bool {
        let text = |field: &str| record.get(field).and_then(Value::as_str).unwrap_or_default();
        text("kind") == "call" && self.matches_skill_and_time(text("skill"), text("at"))
    }
}

/// A page of runs, in the order in which they started.
#[derive(Clone, Debug, Default)]
pub struct RunPage {
    /// The newest runs, up to the limit.
    pub runs: Vec<AuditedRun>,
    /// The total number of matching runs.
    pub total: usize,
}

/// A page of client calls, in the order in which they were made.
#[derive(Clone, Debug, Default)]
pub struct CallPage {
    /// The newest calls as recorded, up to the limit.
    pub calls: Vec<Value>,
    /// The total number of matching calls.
    pub total: usize,
}

/// A kind of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordKind {
    /// The records of runs.
    Runs,
    /// The records of client calls.
    Calls,
}

impl Runtime {
    /// Visits the records after a position as they were written, oldest first, and moves the position.
    pub fn for_each_new_record(
        &self,
        kind: RecordKind,
        position: &mut RecordPosition,
        show: impl FnMut(Value),
    ) -> Result<(), CallError> {
        let folder = self.paths.data_folder()?;
        let log = match kind {
            RecordKind::Runs => AuditLog::for_runs(folder),
            RecordKind::Calls => AuditLog::for_calls(folder),
        };
        Ok(for_each_new_record(&log, position, show)?)
    }

    /// Lists runs.
    pub fn list_runs(&self, filter: &RecordFilter) -> Result<RunPage, CallError> {
        let audit = AuditLog::for_runs(self.paths.data_folder()?);
        let mut runs =
            read_runs(&audit, |entry| filter.matches_skill_and_time(entry.text_field("skill"), entry.started_at()))?;
        runs.retain(|run| filter.matches_run(run));
        let total = runs.len();
        runs.drain(..total.saturating_sub(filter.limit.unwrap_or(total)));
        Ok(RunPage { runs, total })
    }

    /// Lists the calls that clients made to a server.
    pub fn list_calls(&self, filter: &RecordFilter) -> Result<CallPage, CallError> {
        let (mut newest, mut total) = (VecDeque::new(), 0);
        self.for_each_call(filter, |record| {
            total += 1;
            newest.push_back(record);
            if newest.len() > filter.limit.unwrap_or(usize::MAX) {
                newest.pop_front();
            }
        })?;
        Ok(CallPage { calls: newest.into(), total })
    }

    /// Visits the calls that clients made to a server, oldest first, one at a time because there may be many.
    pub fn for_each_call(&self, filter: &RecordFilter, mut show: impl FnMut(Value)) -> Result<(), CallError> {
        for_each_record(&AuditLog::for_calls(self.paths.data_folder()?), |record| {
            if filter.matches_call(&record) {
                show(record);
            }
        })?;
        Ok(())
    }

    /// Verifies that the records of runs and calls were not modified.
    pub fn verify_records(&self) -> Result<[(AuditLog, AuditVerification); 2], CallError> {
        let folder = self.paths.data_folder()?;
        let [runs, calls] = [AuditLog::for_runs(folder), AuditLog::for_calls(folder)];
        let (of_runs, of_calls) = (verify_log(&runs)?, verify_log(&calls)?);
        Ok([(runs, of_runs), (calls, of_calls)])
    }

    /// Starts recording the calls to a server at `place`. `warn` is called when a call cannot be recorded.
    pub fn record_calls(
        &self,
        place: &str,
        version: &str,
        rotation: LogRotation,
        warn: impl Fn(&str) + Send + 'static,
    ) -> Result<CallRecorder, CallError> {
        let about = json!({ "who": self.options.user, "place": place, "version": version });
        let about: Map<String, Value> = about.as_object().cloned().unwrap_or_default();
        let log = AuditLog::for_calls(self.paths.data_folder()?).with_rotation(rotation);
        Ok(CallRecorder::start_recording(log, about, current_time(), warn)?)
    }

    /// Lists the tasks, oldest first. Creates no files.
    pub fn list_tasks(&self) -> Result<Vec<Task>, CallError> {
        let folder = self.paths.data_folder()?;
        if !folder.join("tasks.db").exists() {
            return Ok(Vec::new());
        }
        Ok(TaskStore::open(folder)?.list(current_time())?)
    }

    /// Requests the cancellation of a task; `None` if no task has this id.
    pub fn cancel_task(&self, id: &str) -> Result<Option<Task>, CallError> {
        Ok(TaskStore::open(self.paths.data_folder()?)?.cancel(id, current_time())?)
    }

    /// Computes a fingerprint that changes whenever a run or task changes.
    pub fn activity_fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        if let Some(folder) = &self.paths.data {
            for file in
                [AuditLog::for_runs(folder).records_path(), folder.join("tasks.db"), folder.join("tasks.db-wal")]
            {
                let seen = std::fs::metadata(file).ok();
                seen.map(|seen| (seen.len(), seen.modified().ok())).hash(&mut hasher);
            }
        }
        hasher.finish()
    }
}
