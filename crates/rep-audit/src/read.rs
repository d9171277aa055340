//! The records as runs: each start with its end.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};

use serde_json::{Map, Value, json};

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

    /// What it was denied: the action, and what it was tried on.
    pub fn denials(&self) -> Vec<(String, String)> {
        let all = self.field("denials").and_then(Value::as_array).into_iter().flatten();
        let part = |denial: &Value, name: &str| denial.get(name).and_then(Value::as_str).unwrap_or("?").to_owned();
        all.map(|denial| (part(denial, "action"), part(denial, "target"))).collect()
    }

    /// The run as one object: what its records say, without what ties them to each other.
    pub fn to_json(&self) -> Value {
        let mut fields = Map::new();
        fields.insert("state".to_owned(), json!(self.state.name()));
        for record in [Some(&self.start), self.end.as_ref()].into_iter().flatten() {
            for (name, value) in record.as_object().into_iter().flatten() {
                let is_second = fields.contains_key(name);
                match name.as_str() {
                    "at" if is_second => drop(fields.insert("ended_at".to_owned(), value.clone())),
                    name if TIES.contains(&name) || is_second => {}
                    name => drop(fields.insert(name.to_owned(), value.clone())),
                }
            }
        }
        Value::Object(fields)
    }

    /// When it started, as text that sorts.
    pub fn at(&self) -> &str {
        self.start.get("at").and_then(Value::as_str).unwrap_or_default()
    }
}

/// What ties records to each other, and means nothing to readers.
const TIES: &[&str] = &["v", "seq", "prev", "hash", "kind", "pid", "pid_started"];

/// A record without what ties it to others.
pub fn without_ties(record: &Value) -> Value {
    let fields = record.as_object().into_iter().flatten().filter(|(name, _)| !TIES.contains(&name.as_str()));
    Value::Object(fields.map(|(name, value)| (name.clone(), value.clone())).collect())
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
        let read = file.by_ref().take(LINE_BYTES_MAX as u64).read_until(b'\n', &mut line);
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
