//! The records as runs: each start with its end.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};

use serde_json::Value;

use super::{Audit, LINE_BYTES_MAX};
use rep_storage::files::{self, StorageError};
use rep_storage::owner::Owner;

/// Where a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It ended.
    Ended,
    /// Nothing was started.
    Refused,
    /// It goes on.
    Running,
    /// Who ran it is gone, and left no end.
    CutShort,
    /// No run: packages were installed for a skill.
    Install,
}

impl State {
    /// The word in output.
    pub const fn name(self) -> &'static str {
        match self {
            State::Ended => "ended",
            State::Refused => "refused",
            State::Running => "running",
            State::CutShort => "cut short",
            State::Install => "install",
        }
    }
}

/// One run.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Where it stands.
    pub state: State,
    /// The first record.
    pub start: Value,
    /// The last record, where there is another.
    pub end: Option<Value>,
}

impl Entry {
    /// A field of the run, from its end or its start.
    pub fn field(&self, name: &str) -> Option<&Value> {
        let end = self.end.as_ref().and_then(|end| end.get(name));
        end.or_else(|| self.start.get(name)).filter(|value| !value.is_null())
    }

    /// A field that is text, or nothing.
    pub fn text(&self, name: &str) -> &str {
        self.field(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// When it started, as text that sorts.
    pub fn at(&self) -> &str {
        self.start.get("at").and_then(Value::as_str).unwrap_or_default()
    }
}

/// Shows every record, from the oldest on. Lines that are no records are passed over: finding them is for
/// [`super::verify()`].
pub fn records(audit: &Audit, mut show: impl FnMut(Value)) -> Result<(), StorageError> {
    let path = audit.file();
    let Some(file) = files::open_there(&path)? else { return Ok(()) };
    let mut file = BufReader::new(file);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = file.by_ref().take(LINE_BYTES_MAX as u64 + 1).read_until(b'\n', &mut line);
        if read.map_err(|error| StorageError::new("read", &path, error))? == 0 {
            return Ok(());
        }
        if let Ok(record) = serde_json::from_slice::<Value>(&line) {
            show(record);
        }
    }
}

/// The runs in the order they started.
pub fn entries(audit: &Audit, mut is_wanted: impl FnMut(&Entry) -> bool) -> Result<Vec<Entry>, StorageError> {
    let mut found: Vec<Entry> = Vec::new();
    let mut open: BTreeMap<String, usize> = BTreeMap::new();
    records(audit, |record| {
        let text = |field: &str| record.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
        let run = text("run");
        match text("kind").as_str() {
            "start" => {
                let entry = Entry { state: state(&record), start: record, end: None };
                if is_wanted(&entry) {
                    open.insert(run, found.len());
                    found.push(entry);
                }
            }
            kind @ ("refused" | "install") => {
                let state = if kind == "install" { State::Install } else { State::Refused };
                let entry = Entry { state, start: record, end: None };
                if is_wanted(&entry) {
                    found.push(entry);
                }
            }
            "end" => {
                if let Some(index) = open.remove(&run) {
                    found[index].state = State::Ended;
                    found[index].end = Some(record);
                }
            }
            _ => {}
        }
    })?;
    Ok(found)
}

/// Where a run without an end stands.
fn state(start: &Value) -> State {
    let pid = start.get("pid").and_then(Value::as_u64).and_then(|pid| u32::try_from(pid).ok());
    let started = start.get("pid_started").and_then(Value::as_str).map(str::to_owned);
    let owner = pid.zip(started).map(|(pid, started)| Owner { pid, started });
    if owner.is_some_and(|owner| owner.is_alive()) { State::Running } else { State::CutShort }
}
