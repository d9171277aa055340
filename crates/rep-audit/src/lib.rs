//! The audit log: an append-only record of what ran, with which arguments, for whom, and how it ended.
//!
//! `audit.jsonl` has one JSON object per line. Each run has a `start` record, written before the run starts, and an
//! `end` record. A start without an end is a run that was cut short. A refused run has one `refused` record. Installing
//! packages for a skill writes one `install` record beforehand. What was done with a source of skills is a `source` record. Format version 1:
//!
//! ```text
//! {"v":1,"seq":7,"prev":"<hash of the record before>","at":"2026-11-15T13:06:46.120Z","kind":"start","run":"…", … ,"hash":"…"}
//! ```
//!
//! `hash` is the SHA-256, in hexadecimal, of the bytes of the line before `,"hash":`. The `prev` of the first record is
//! 64 zeros. `audit.head` stores the number and hash of the newest record and the length of the file up to its end, so
//! that a truncated file is detected. If a crash leaves an unfinished line, the line is retained, and the next record,
//! of kind `mended`, stores its length and digest. That record also notes a missing head. Writers take turns with a
//! lock on `audit.lock`. A record is on disk before the call returns; the head may reach the disk later.
//!
//! The chain detects edited, removed, reordered and truncated records. It does not protect against the user, who can
//! rewrite both files. Tools cannot access them.
//!
//! ```no_run
//! use rep_audit::{AuditLog, AuditVerification, verify_log};
//!
//! let audit = AuditLog::for_runs(std::path::Path::new("/home/me/.local/share/repertoire"));
//! let found: AuditVerification = verify_log(&audit)?;
//! # Ok::<(), rep_storage::StorageError>(())
//! ```
//!
//! Calls to a server are recorded in the same directory and format, in `calls.jsonl`, `calls.head` and `calls.lock`.
//! They are separate because they greatly outnumber runs. When `calls.jsonl` is large, it is renamed to
//! `calls-<number of its last record>.jsonl`, and a new file continues the chain: its first record, of kind `rotated`,
//! names the file before it. Full files can be moved away; `verify_log` notes which records they contain.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use rep_storage::atomic;
use rep_storage::files::{self, StorageError, random_bytes};
use rep_storage::owner::ProcessOwner;
use rep_storage::platform::user_id;
use rep_storage::time;

mod calls;
#[doc(hidden)]
pub mod fuzzing;
mod rotation;
mod runs;
mod verification;

pub use calls::{CallRecord, CallRecorder};
pub use rotation::LogRotation;
pub use runs::{
    AuditRunState, AuditedRun, RecordPosition, for_each_new_record, for_each_record, read_runs, without_chain_fields,
};
pub use verification::{AuditVerification, verify_log};

const VERSION: u64 = 1;
/// The `prev` of the first record.
const ZERO_HASH: &str = "0000000000000000000000000000000000000000000000000000000000000000";
/// The largest sequence number of a record. It leaves room to count the next record without overflow.
const SEQ_MAX: u64 = 1 << 53;
const HEAD_BYTES_MAX: u64 = 4096;
/// The longest line, including its newline. Longer records are shortened before they are written.
const LINE_BYTES_MAX: usize = 1 << 20;
/// The maximum number of bytes read from an unfinished tail.
const TAIL_BYTES_MAX: u64 = 64 << 20;

/// A user's audit log.
#[derive(Clone, Debug)]
pub struct AuditLog {
    folder: PathBuf,
    /// The file name without its extension: `audit` or `calls`.
    stem: &'static str,
    /// When a new file is started, if the log is rotated.
    rotation: Option<LogRotation>,
}

/// The description of a run in its records. Arguments may contain personal data, so only their digest is stored.
#[derive(Clone, Debug)]
pub struct RunSubject {
    /// The skill's qualified name.
    pub skill: String,
    /// The digest of the skill's directory.
    pub digest: String,
    /// The tool, command or test.
    pub tool: String,
    /// The directory that patterns are relative to.
    pub workspace: String,
    /// The digest of the arguments.
    pub input_digest: String,
    /// Whether the sandbox confines the run.
    pub is_confined: bool,
    /// The permissions of the run, as JSON.
    pub policy: Value,
    /// The declared provenance of the skill, as JSON.
    pub provenance: Option<Value>,
}

impl RunSubject {
    fn to_fields(&self, who: &str) -> Map<String, Value> {
        let record = json!({
            "who": who,
            "uid": user_id(),
            "skill": self.skill,
            "digest": self.digest,
            "tool": self.tool,
            "workspace": self.workspace,
            "input_digest": self.input_digest,
            "sandbox": self.is_confined,
            "policy": self.policy,
        });
        let mut fields = record.as_object().cloned().unwrap_or_default();
        fields.extend(self.provenance.clone().map(|provenance| ("provenance".to_owned(), provenance)));
        fields
    }
}

/// The open record of a run. If it is dropped without [`RunRecord::record_end`], the run counts as cut short.
#[derive(Debug)]
#[must_use = "a run that is not ended is recorded as cut short"]
pub struct RunRecord {
    audit: AuditLog,
    run: String,
    skill: String,
    tool: String,
}

/// An action that a run was denied. The caller must redact secrets first.
#[derive(Clone, Debug)]
pub struct RecordedDenial<'a> {
    /// The action: `read`, `write`, `connect`, `spawn`, …
    pub action: &'a str,
    /// Its object: a path, a host or a program.
    pub target: &'a str,
    /// The declaration that decides about it.
    pub declaration: &'a str,
    /// The declaration that would allow it, if there is one.
    pub suggestion: Option<&'a str>,
}

/// The outcome of a run. The caller must redact secrets first.
#[derive(Clone, Debug, Default)]
pub struct RunEnding<'a> {
    /// `ok`, or the error code.
    pub outcome: &'a str,
    /// The error message.
    pub message: Option<&'a str>,
    /// The exit code or signal, as text.
    pub exit: Option<String>,
    /// The sandbox layers, each with its state.
    pub layers: Vec<(&'a str, &'a str)>,
    /// The denied actions.
    pub denials: Vec<RecordedDenial<'a>>,
    /// The number of further denials that are not listed.
    pub denials_omitted: u64,
    /// The files that the run created or changed.
    pub written: &'a [String],
    /// The duration in milliseconds.
    pub duration_ms: u64,
}

impl AuditLog {
    /// Opens the log of runs in a directory.
    pub fn for_runs(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), stem: "audit", rotation: None }
    }

    /// Opens the log of server calls in a directory. It has the same format as the log of runs.
    pub fn for_calls(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), stem: "calls", rotation: None }
    }

    /// Returns the path of the records file.
    pub fn records_path(&self) -> PathBuf {
        self.folder.join(format!("{}.jsonl", self.stem))
    }

    fn head_path(&self) -> PathBuf {
        self.folder.join(format!("{}.head", self.stem))
    }

    /// Records the start of a run and how it was confirmed. `who` is the user, or the client acting for the user. If
    /// this fails, the run must not start.
    pub fn start_run(
        &self,
        subject: &RunSubject,
        consent: &str,
        who: &str,
        at: SystemTime,
    ) -> Result<RunRecord, StorageError> {
        let run = hex::encode(random_bytes::<8>());
        let owner = ProcessOwner::current();
        let mut record = subject.to_fields(who);
        record.insert("run".to_owned(), json!(run));
        record.insert("consent".to_owned(), json!(consent));
        record.insert("pid".to_owned(), json!(owner.pid));
        record.insert("pid_started".to_owned(), json!(owner.started));
        self.append_record("start", record, at)?;
        Ok(RunRecord { audit: self.clone(), run, skill: subject.skill.clone(), tool: subject.tool.clone() })
    }

    /// Records a refused run with the code and message of the refusal.
    pub fn record_refusal(
        &self,
        subject: &RunSubject,
        code: &str,
        message: &str,
        who: &str,
        at: SystemTime,
    ) -> Result<(), StorageError> {
        let mut record = subject.to_fields(who);
        record.insert("run".to_owned(), json!(hex::encode(random_bytes::<8>())));
        record.insert("outcome".to_owned(), json!(code));
        record.insert("message".to_owned(), json!(message));
        self.append_record("refused", record, at)
    }

    /// Records that packages are about to be installed for a skill. If this fails, they must not be installed.
    pub fn record_install(
        &self,
        skill: &str,
        packages: &[String],
        hosts: &[String],
        who: &str,
        at: SystemTime,
    ) -> Result<(), StorageError> {
        let mut record = Map::new();
        record.insert("skill".to_owned(), json!(skill));
        record.insert("who".to_owned(), json!(who));
        record.insert("packages".to_owned(), json!(packages));
        record.insert("hosts".to_owned(), json!(hosts));
        self.append_record("install", record, at)
    }

    /// Records what was done with a source of skills: `action` is `fetch`, `push`, `refuse` or `verdict`. The caller must
    /// remove credentials from the address.
    pub fn record_source(
        &self,
        action: &str,
        source: &str,
        revision: &str,
        message: &str,
        who: &str,
        at: SystemTime,
    ) -> Result<(), StorageError> {
        let mut record = Map::new();
        record.insert("who".to_owned(), json!(who));
        record.insert("action".to_owned(), json!(action));
        record.insert("source".to_owned(), json!(source));
        let optional = [("revision", revision), ("message", message)];
        let present = optional.into_iter().filter(|(_, text)| !text.is_empty());
        record.extend(present.map(|(key, text)| (key.to_owned(), json!(text))));
        self.append_record("source", record, at)
    }

    /// Appends a record.
    fn append_record(
        &self,
        kind: &'static str,
        record: Map<String, Value>,
        at: SystemTime,
    ) -> Result<(), StorageError> {
        self.append_all(vec![(kind, record, at)])
    }

    /// Appends records. After a crash, either all of them or only the first few are in the log.
    fn append_all(&self, records: Vec<(&'static str, Map<String, Value>, SystemTime)>) -> Result<(), StorageError> {
        let path = self.records_path();
        let failed = |error| StorageError::new("write", &path, error);
        let _lock = files::lock_file(&path)?;
        let mut file = files::open_for_append(&path)?;
        let mut length = file.metadata().map_err(failed)?.len();
        if self.rotation.is_some_and(|rotation| length >= rotation.bytes_max) && self.rotate_file(&file, length)? {
            file = files::open_for_append(&path)?;
            length = 0;
        }
        let known = ChainHead::read_file(&self.head_path())?;
        if known.is_none() && length == 0 {
            // With an initial head, a head that is missing later must have been removed.
            ChainHead::empty().write_durably(&self.head_path())?;
        }
        let is_headless = known.is_none() && length > 0;
        let mut head = known.unwrap_or_else(ChainHead::empty);
        let tail = read_tail(&file, head.bytes.min(length)).map_err(failed)?;
        // A crash can leave complete records or part of one after the head.
        let torn = if length > head.bytes { head.advance_through(&tail) } else { &[] };
        let mut bytes = Vec::new();
        if length > 0 && !ends_with_newline(&file).map_err(failed)? {
            bytes.push(b'\n');
        }
        if is_headless || !torn.is_empty() {
            // A crash leaves the start of a record. A complete line that is not a record was written by something else.
            let is_foreign = torn.contains(&b'\n');
            let torn = torn.strip_suffix(b"\n").unwrap_or(torn);
            let digest = hex::encode(Sha256::digest(torn));
            let mended =
                json!({ "bytes": torn.len(), "digest": digest, "is_headless": is_headless, "is_foreign": is_foreign });
            let at = records.first().map_or(SystemTime::UNIX_EPOCH, |(_, _, at)| *at);
            bytes.extend(head.build_next_line("mended", mended.as_object().cloned().unwrap_or_default(), at));
        }
        if length == 0
            && let Some(rotated) = self.describe_rotated_file(&head)
        {
            let at = records.first().map_or(SystemTime::UNIX_EPOCH, |(_, _, at)| *at);
            bytes.extend(head.build_next_line("rotated", rotated, at));
        }
        for (kind, record, at) in records {
            bytes.extend(head.build_next_line(kind, record, at));
        }
        if let Err(error) = file.write_all(&bytes).and_then(|()| file.sync_data()) {
            // Remove the partial write. If that fails, the next append accounts for it.
            let _ = file.set_len(length);
            return Err(failed(error));
        }
        head.bytes = length + bytes.len() as u64;
        head.write_file(&self.head_path()).inspect_err(|_| {
            // The caller may retry after this error, so the record must not remain in the file.
            if !ChainHead::read_file(&self.head_path()).is_ok_and(|kept| kept.as_ref() == Some(&head)) {
                let _ = file.set_len(length);
            }
        })
    }
}

/// Reads a file from an offset to its end.
fn read_tail(mut file: &File, from: u64) -> io::Result<Vec<u8>> {
    let mut tail = Vec::new();
    file.seek(SeekFrom::Start(from))?;
    file.take(TAIL_BYTES_MAX).read_to_end(&mut tail)?;
    Ok(tail)
}

/// Returns whether the last line of a file is complete.
fn ends_with_newline(mut file: &File) -> io::Result<bool> {
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

impl RunRecord {
    /// Returns the id of the run.
    pub fn id(&self) -> &str {
        &self.run
    }

    /// Records how the run ended.
    pub fn record_end(self, ending: &RunEnding<'_>, at: SystemTime) -> Result<(), StorageError> {
        let denials = ending.denials.iter().map(|denial| {
            json!({
                "action": denial.action,
                "target": denial.target,
                "declaration": denial.declaration,
                "suggestion": denial.suggestion,
            })
        });
        let layers = ending.layers.iter().map(|(name, state)| ((*name).to_owned(), json!(state)));
        let record = json!({
            "run": self.run,
            "skill": self.skill,
            "tool": self.tool,
            "outcome": ending.outcome,
            "message": ending.message,
            "exit": ending.exit,
            "layers": layers.collect::<Map<String, Value>>(),
            "denials": denials.collect::<Vec<Value>>(),
            "denials_omitted": ending.denials_omitted,
            "written": ending.written,
            "duration_ms": ending.duration_ms,
        });
        self.audit.append_record("end", record.as_object().cloned().unwrap_or_default(), at)
    }
}

/// The newest record, and the length of the file up to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ChainHead {
    seq: u64,
    hash: String,
    bytes: u64,
}

impl ChainHead {
    fn empty() -> Self {
        Self { seq: 0, hash: ZERO_HASH.to_owned(), bytes: 0 }
    }

    fn read_file(path: &Path) -> Result<Option<Self>, StorageError> {
        let Some(bytes) = files::read_private(path, HEAD_BYTES_MAX)? else { return Ok(None) };
        // Some file systems leave an empty file if the power fails right after a file was replaced.
        if bytes.is_empty() {
            return Ok(None);
        }
        Self::parse(&bytes).map(Some).map_err(|reason| StorageError::invalid_content(path, reason))
    }

    fn parse(bytes: &[u8]) -> Result<Self, &'static str> {
        let value: Value = serde_json::from_slice(bytes).unwrap_or_default();
        if value.get("v").and_then(Value::as_u64).is_some_and(|version| version > VERSION) {
            return Err("it was written by a newer version of `rep`");
        }
        let number = |field: &str| value.get(field).and_then(Value::as_u64);
        match (number("seq").filter(|seq| *seq <= SEQ_MAX), value.get("hash").and_then(Value::as_str), number("bytes"))
        {
            (Some(seq), Some(hash), Some(bytes)) => Ok(Self { seq, hash: hash.to_owned(), bytes }),
            _ => Err("it is damaged; run `rep audit verify` for details"),
        }
    }

    /// Replaces the head. It is not synced: the record itself is on disk already, and an older head is advanced over
    /// the records behind it.
    fn write_file(&self, path: &Path) -> Result<(), StorageError> {
        let written = atomic::write_cache_file(path, &self.to_bytes());
        written.map_err(|error| StorageError::new("write", path, error))
    }

    /// Replaces the head and syncs it.
    fn write_durably(&self, path: &Path) -> Result<(), StorageError> {
        files::replace_private(path, &self.to_bytes())
    }

    fn to_bytes(&self) -> Vec<u8> {
        let value = json!({ "v": VERSION, "seq": self.seq, "hash": self.hash, "bytes": self.bytes });
        format!("{value}\n").into_bytes()
    }

    /// Advances over the records of a tail while they continue the chain, and returns the unfinished rest. A record
    /// that lacks only its newline is complete.
    fn advance_through<'a>(&mut self, mut tail: &'a [u8]) -> &'a [u8] {
        while !tail.is_empty() {
            let end = tail.iter().position(|byte| *byte == b'\n').unwrap_or(tail.len());
            let Some(link) =
                ChainLink::parse_line(&tail[..end]).filter(|link| link.is_successor_of(self.seq, &self.hash))
            else {
                break;
            };
            (self.seq, self.hash) = (link.seq, link.hash);
            tail = tail.get(end + 1..).unwrap_or_default();
        }
        tail
    }

    /// Builds the line of the next record and advances to it.
    fn build_next_line(&mut self, kind: &str, record: Map<String, Value>, at: SystemTime) -> Vec<u8> {
        let mut line = json!({
            "v": VERSION,
            "seq": self.seq + 1,
            "prev": self.hash,
            "at": time::format_timestamp(at),
            "kind": kind,
        });
        let small = line.clone();
        if let Some(fields) = line.as_object_mut() {
            fields.extend(record);
        }
        let mut text = line.to_string();
        if text.len() > LINE_BYTES_MAX - 128 {
            let mut cut = small;
            cut["cut"] = json!(text.len());
            for field in ["run", "who", "method", "skill", "tool", "outcome", "duration_ms"] {
                cut[field] =
                    line.get(field).filter(|value| value.to_string().len() < 4096).cloned().unwrap_or_default();
            }
            text = cut.to_string();
        }
        text.pop();
        self.hash = hex::encode(Sha256::digest(text.as_bytes()));
        self.seq += 1;
        format!("{text},\"hash\":\"{}\"}}\n", self.hash).into_bytes()
    }
}

/// The fields that link a record to its predecessor.
struct ChainLink {
    seq: u64,
    prev: String,
    hash: String,
    record: Value,
}

impl ChainLink {
    /// Parses a line if its hash is correct.
    fn parse_line(line: &[u8]) -> Option<ChainLink> {
        const MARK: &[u8] = b",\"hash\":\"";
        let at = line.len().checked_sub(MARK.len() + 64 + 2)?;
        let (body, rest) = line.split_at(at);
        let hash = rest.strip_prefix(MARK)?.strip_suffix(b"\"}")?;
        let hash = std::str::from_utf8(hash).ok()?.to_owned();
        if hex::encode(Sha256::digest(body)) != hash {
            return None;
        }
        let record: Value = serde_json::from_slice(line).ok()?;
        let seq = record.get("seq").and_then(Value::as_u64).filter(|seq| *seq <= SEQ_MAX)?;
        let prev = record.get("prev").and_then(Value::as_str)?.to_owned();
        (record.get("v").and_then(Value::as_u64)? <= VERSION).then_some(ChainLink { seq, prev, hash, record })
    }

    fn is_successor_of(&self, seq: u64, hash: &str) -> bool {
        self.seq == seq + 1 && self.prev == hash
    }
}
