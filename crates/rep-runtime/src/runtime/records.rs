//! What ran, what clients asked, and what goes on: the same answers for the terminal, the server and the dashboard.
#![expect(clippy::disallowed_methods, reason = "a fingerprint of the records is taken from their files")]

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};

use rep_audit::{Audit, CallRecorder, Entry, Verdict, entries, records, verify};
use rep_storage::time;
use serde_json::{Map, Value, json};

use super::{Runtime, now};
use crate::error::{CallError, ErrorCode};
use crate::task::{Task, Tasks};

/// Which records are wanted.
#[derive(Clone, Debug, Default)]
pub struct RecordFilter {
    /// Only those of this skill.
    pub skill: Option<String>,
    /// Only those since then, as text that sorts.
    pub since: Option<String>,
    /// Only runs in this state.
    pub state: Option<String>,
    /// Only runs that were denied something.
    pub has_denials: bool,
    /// At most this many, the newest; all if it is not set.
    pub limit: Option<usize>,
}

impl RecordFilter {
    /// Those of a skill, since some time: a date, a date with a time, or how long ago (`15m`, `2h`, `3d`).
    pub fn new(skill: Option<&str>, since: Option<&str>) -> Result<Self, CallError> {
        let since = since.map(|word| {
            let unknown = || {
                CallError::unable(ErrorCode::Usage, format!("`{word}` is no point in time"))
                    .with_remedy("as in 2026-11-01, 15m, 2h or 3d")
            };
            time::parse(word, now()).map(time::text).ok_or_else(unknown)
        });
        Ok(Self { skill: skill.map(str::to_owned), since: since.transpose()?, ..Self::default() })
    }

    fn fits(&self, name: &str, at: &str) -> bool {
        let is_named = |skill: &String| name == skill || name.rsplit(':').next() == Some(skill);
        self.skill.as_ref().is_none_or(is_named) && self.since.as_deref().is_none_or(|since| at >= since)
    }

    fn fits_run(&self, run: &Entry) -> bool {
        self.fits(run.text("skill"), run.at())
            && self.state.as_deref().is_none_or(|state| run.state.name() == state)
            && (!self.has_denials || !run.denials().is_empty())
    }

    fn fits_call(&self, record: &Value) -> bool {
        let text = |field: &str| record.get(field).and_then(Value::as_str).unwrap_or_default();
        text("kind") == "call" && self.fits(text("skill"), text("at"))
    }
}

/// Runs, in the order they started.
#[derive(Clone, Debug, Default)]
pub struct RunPage {
    /// As many as were wanted, the newest of them.
    pub runs: Vec<Entry>,
    /// How many there are.
    pub total: usize,
}

/// Calls of clients, in the order they were made.
#[derive(Clone, Debug, Default)]
pub struct CallPage {
    /// As many as were wanted, the newest of them, as they were recorded.
    pub calls: Vec<Value>,
    /// How many there are.
    pub total: usize,
}

impl Runtime {
    /// What ran.
    pub fn runs(&self, filter: &RecordFilter) -> Result<RunPage, CallError> {
        let audit = Audit::at(self.paths.data()?);
        let mut runs = entries(&audit, |entry| filter.fits(entry.text("skill"), entry.at()))?;
        runs.retain(|run| filter.fits_run(run));
        let total = runs.len();
        runs.drain(..total.saturating_sub(filter.limit.unwrap_or(total)));
        Ok(RunPage { runs, total })
    }

    /// What clients asked a server.
    pub fn calls(&self, filter: &RecordFilter) -> Result<CallPage, CallError> {
        let (mut newest, mut total) = (VecDeque::new(), 0);
        self.each_call(filter, |record| {
            total += 1;
            newest.push_back(record);
            if newest.len() > filter.limit.unwrap_or(usize::MAX) {
                newest.pop_front();
            }
        })?;
        Ok(CallPage { calls: newest.into(), total })
    }

    /// Shows what clients asked a server, oldest first, one record at a time: there may be many.
    pub fn each_call(&self, filter: &RecordFilter, mut show: impl FnMut(Value)) -> Result<(), CallError> {
        records(&Audit::of_calls(self.paths.data()?), |record| {
            if filter.fits_call(&record) {
                show(record);
            }
        })?;
        Ok(())
    }

    /// Whether the records of runs and of calls are as they were written.
    pub fn verify_records(&self) -> Result<[(Audit, Verdict); 2], CallError> {
        let folder = self.paths.data()?;
        let [runs, calls] = [Audit::at(folder), Audit::of_calls(folder)];
        let (of_runs, of_calls) = (verify(&runs)?, verify(&calls)?);
        Ok([(runs, of_runs), (calls, of_calls)])
    }

    /// Begins the record of what clients ask a server at `place`. `warn` hears when a call cannot be recorded.
    pub fn record_calls(
        &self,
        place: &str,
        version: &str,
        warn: impl Fn(&str) + Send + 'static,
    ) -> Result<CallRecorder, CallError> {
        let about = json!({ "who": self.options.user, "place": place, "version": version });
        let about: Map<String, Value> = about.as_object().cloned().unwrap_or_default();
        Ok(CallRecorder::begin(Audit::of_calls(self.paths.data()?), about, now(), warn)?)
    }

    /// The calls that go on after their answer, oldest first. Looking leaves nothing behind.
    pub fn tasks(&self) -> Result<Vec<Task>, CallError> {
        let folder = self.paths.data()?;
        if !folder.join("tasks.db").exists() {
            return Ok(Vec::new());
        }
        Ok(Tasks::open(folder)?.list(now())?)
    }

    /// Asks for a task to be cancelled; `None` if no task has this id.
    pub fn cancel_task(&self, id: &str) -> Result<Option<Task>, CallError> {
        Ok(Tasks::open(self.paths.data()?)?.cancel(id, now())?)
    }

    /// A fingerprint that changes whenever a run or a task changes.
    pub fn activity_fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        if let Some(folder) = &self.paths.data {
            for file in [Audit::at(folder).file(), folder.join("tasks.db"), folder.join("tasks.db-wal")] {
                let seen = std::fs::metadata(file).ok();
                seen.map(|seen| (seen.len(), seen.modified().ok())).hash(&mut hasher);
            }
        }
        hasher.finish()
    }
}
