//! What ran, with what, for whom, and how it ended: a record that only grows.
//!
//! `audit.jsonl` has one JSON object a line. Every run has a `start`, written before anything starts, and an `end`; a start
//! without an end is a run that was cut short. What was refused has one `refused`, what was installed for a
//! skill one `install`, written before. Form, version 1:
//!
//! ```text
//! {"v":1,"seq":7,"prev":"<hash of the record before>","at":"2026-11-15T13:06:46.120Z","kind":"start","run":"…", … ,"hash":"…"}
//! ```
//!
//! `hash` is the SHA-256, in hexadecimal digits, of the bytes of the line before `,"hash":`. The first record follows 64 zeros.
//! `audit.head` holds the number and hash of the newest record and the length of the file up to its end, so that a tail
//! that was cut off is missed. A line that a crash left unfinished is kept, and the next record, of kind `mended`,
//! names its length and digest; it also tells where the head itself was missing. Writers take turns (a lock on `audit.lock`), and a record is on the disk before the call returns.
//!
//! This finds what was edited, removed, reordered or cut off. It cannot stop the user himself, who could write both files
//! anew; tools cannot reach them.
//!
//! What clients ask a server is kept beside it in the same form (`calls.jsonl`, `calls.head`, `calls.lock`): they ask much more
//! than they run, and runs must not be buried below it.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use rep_storage::files::{self, StorageError, random};
use rep_storage::owner::Owner;
use rep_storage::time;

mod calls;
#[doc(hidden)]
pub mod fuzzing;
mod read;
mod verify;

pub use calls::{CallRecord, CallRecorder};
pub use read::{Entry, State, entries, records, without_ties};
pub use verify::{Verdict, verify};

const VERSION: u64 = 1;
/// What the first record follows.
const NOTHING: &str = "0000000000000000000000000000000000000000000000000000000000000000";
/// The largest number a record may have. No log gets there; a larger number would overflow when the next record is counted.
const SEQ_MAX: u64 = 1 << 53;
const HEAD_BYTES_MAX: u64 = 4096;
/// The longest line, with its end. Records are cut to less before they are written.
const LINE_BYTES_MAX: usize = 1 << 20;
/// The most of an unfinished tail that is looked at.
const TAIL_BYTES_MAX: u64 = 64 << 20;

/// The record of one user.
#[derive(Clone, Debug)]
pub struct Audit {
    folder: PathBuf,
    /// What its files are called by.
    stem: &'static str,
}

/// What a record about a run says of the run. The arguments themselves may be anybody's data, so only their digest is kept.
#[derive(Clone, Debug)]
pub struct RunSubject {
    /// The skill, by its qualified name.
    pub skill: String,
    /// The digest of the skill's folder.
    pub digest: String,
    /// The tool, the command or the test.
    pub tool: String,
    /// The folder patterns are relative to.
    pub workspace: String,
    /// The digest of the arguments.
    pub input_digest: String,
    /// Whether the sandbox confines the run.
    pub is_confined: bool,
    /// What the run may do, as JSON.
    pub policy: Value,
}

impl RunSubject {
    fn fields(&self, who: &str) -> Map<String, Value> {
        let record = json!({
            "who": who,
            "uid": rustix::process::geteuid().as_raw(),
            "skill": self.skill,
            "digest": self.digest,
            "tool": self.tool,
            "workspace": self.workspace,
            "input_digest": self.input_digest,
            "sandbox": self.is_confined,
            "policy": self.policy,
        });
        record.as_object().cloned().unwrap_or_default()
    }
}

/// The open record of a run that has not ended. Dropped without an end, it stays a run that was cut short.
#[derive(Debug)]
#[must_use = "a run that is not ended is recorded as cut short"]
pub struct RunRecord {
    audit: Audit,
    run: String,
    skill: String,
    tool: String,
}

/// How a run ended. The caller has redacted it.
#[derive(Clone, Debug, Default)]
pub struct RunEnding<'a> {
    /// `ok`, or the code of the error.
    pub outcome: &'a str,
    /// The message of the error.
    pub message: Option<&'a str>,
    /// The exit code or signal, in words.
    pub exit: Option<String>,
    /// The layers of the sandbox, each with its state.
    pub layers: Vec<(&'a str, &'a str)>,
    /// What the run tried and was denied: the action and its target.
    pub denials: Vec<(&'a str, &'a str)>,
    /// The files it made or changed.
    pub written: &'a [String],
    /// How long it took.
    pub duration_ms: u64,
}

impl Audit {
    /// The record of runs kept in a folder.
    pub fn at(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), stem: "audit" }
    }

    /// The record of what clients asked a server, kept in a folder: `calls.jsonl`, of the same form.
    pub fn of_calls(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), stem: "calls" }
    }

    /// The file of records.
    pub fn file(&self) -> PathBuf {
        self.folder.join(format!("{}.jsonl", self.stem))
    }

    fn head_file(&self) -> PathBuf {
        self.folder.join(format!("{}.head", self.stem))
    }

    /// Records that a run starts, for somebody (`who`: the user, or the client he speaks through), with how consent was
    /// given. If this fails, nothing may be started.
    pub fn start(
        &self,
        subject: &RunSubject,
        consent: &str,
        who: &str,
        at: SystemTime,
    ) -> Result<RunRecord, StorageError> {
        let run = hex::encode(random::<8>());
        let owner = Owner::this();
        let mut record = subject.fields(who);
        record.insert("run".to_owned(), json!(run));
        record.insert("consent".to_owned(), json!(consent));
        record.insert("pid".to_owned(), json!(owner.pid));
        record.insert("pid_started".to_owned(), json!(owner.started));
        self.append("start", record, at)?;
        Ok(RunRecord { audit: self.clone(), run, skill: subject.skill.clone(), tool: subject.tool.clone() })
    }

    /// Records that a run was refused, with the code and the message of the refusal.
    pub fn refused(
        &self,
        subject: &RunSubject,
        code: &str,
        message: &str,
        who: &str,
        at: SystemTime,
    ) -> Result<(), StorageError> {
        let mut record = subject.fields(who);
        record.insert("run".to_owned(), json!(hex::encode(random::<8>())));
        record.insert("outcome".to_owned(), json!(code));
        record.insert("message".to_owned(), json!(message));
        self.append("refused", record, at)
    }

    /// Records that packages are about to be installed for a skill. Where this fails nothing may be installed.
    pub fn install(
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
        self.append("install", record, at)
    }

    /// Appends one record behind the newest.
    fn append(&self, kind: &'static str, record: Map<String, Value>, at: SystemTime) -> Result<(), StorageError> {
        self.append_all(vec![(kind, record, at)])
    }

    /// Appends records behind the newest, all of them or, where a crash comes between, the first of them.
    fn append_all(&self, records: Vec<(&'static str, Map<String, Value>, SystemTime)>) -> Result<(), StorageError> {
        let path = self.file();
        let failed = |error| StorageError::new("write", &path, error);
        let _lock = files::lock(&path)?;
        let mut file = files::open(&path)?;
        let length = file.metadata().map_err(failed)?.len();
        let known = Head::read(&self.head_file())?;
        if known.is_none() && length == 0 {
            // So that a head that is missing later was taken away.
            Head::none().write(&self.head_file())?;
        }
        let is_headless = known.is_none() && length > 0;
        let mut head = known.unwrap_or_else(Head::none);
        let tail = tail(&file, head.bytes.min(length)).map_err(failed)?;
        // Behind the head stands what a crash left: whole records, or a piece of one.
        let torn = if length > head.bytes { head.follow(&tail) } else { &[] };
        let mut bytes = Vec::new();
        if length > 0 && !ends_line(&file).map_err(failed)? {
            bytes.push(b'\n');
        }
        if is_headless || !torn.is_empty() {
            // A crash leaves the beginning of a record; what has an end of line and is none, somebody wrote.
            let is_foreign = torn.contains(&b'\n');
            let torn = torn.strip_suffix(b"\n").unwrap_or(torn);
            let digest = hex::encode(Sha256::digest(torn));
            let mended =
                json!({ "bytes": torn.len(), "digest": digest, "is_headless": is_headless, "is_foreign": is_foreign });
            let at = records.first().map_or(SystemTime::UNIX_EPOCH, |(_, _, at)| *at);
            bytes.extend(head.line("mended", mended.as_object().cloned().unwrap_or_default(), at));
        }
        for (kind, record, at) in records {
            bytes.extend(head.line(kind, record, at));
        }
        if let Err(error) = file.write_all(&bytes).and_then(|()| file.sync_data()) {
            // A piece of what was not kept would only be mended later; where it cannot be taken back, it will be.
            let _ = file.set_len(length);
            return Err(failed(error));
        }
        head.bytes = length + bytes.len() as u64;
        head.write(&self.head_file()).inspect_err(|_| {
            // Whoever is told that it failed may try again, and it must not stand there twice.
            if !Head::read(&self.head_file()).is_ok_and(|kept| kept.as_ref() == Some(&head)) {
                let _ = file.set_len(length);
            }
        })
    }
}

/// What a file holds from a place on.
fn tail(mut file: &File, from: u64) -> io::Result<Vec<u8>> {
    let mut tail = Vec::new();
    file.seek(SeekFrom::Start(from))?;
    file.take(TAIL_BYTES_MAX).read_to_end(&mut tail)?;
    Ok(tail)
}

/// Whether the last line of a file is whole.
fn ends_line(mut file: &File) -> io::Result<bool> {
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

impl RunRecord {
    /// The id of the run.
    pub fn id(&self) -> &str {
        &self.run
    }

    /// Records how the run ended.
    pub fn end(self, ending: &RunEnding<'_>, at: SystemTime) -> Result<(), StorageError> {
        let denials = ending.denials.iter().map(|(action, target)| json!({ "action": action, "target": target }));
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
            "written": ending.written,
            "duration_ms": ending.duration_ms,
        });
        self.audit.append("end", record.as_object().cloned().unwrap_or_default(), at)
    }
}

/// The newest record, and where the file ends behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Head {
    seq: u64,
    hash: String,
    bytes: u64,
}

impl Head {
    fn none() -> Self {
        Self { seq: 0, hash: NOTHING.to_owned(), bytes: 0 }
    }

    fn read(path: &Path) -> Result<Option<Self>, StorageError> {
        let Some(bytes) = files::read(path, HEAD_BYTES_MAX)? else { return Ok(None) };
        Self::parse(&bytes).map(Some).map_err(|reason| StorageError::broken(path, reason))
    }

    fn parse(bytes: &[u8]) -> Result<Self, &'static str> {
        let value: Value = serde_json::from_slice(bytes).unwrap_or_default();
        if value.get("v").and_then(Value::as_u64).is_some_and(|version| version > VERSION) {
            return Err("it was written by a newer rep");
        }
        let number = |field: &str| value.get(field).and_then(Value::as_u64);
        match (number("seq").filter(|seq| *seq <= SEQ_MAX), value.get("hash").and_then(Value::as_str), number("bytes"))
        {
            (Some(seq), Some(hash), Some(bytes)) => Ok(Self { seq, hash: hash.to_owned(), bytes }),
            _ => Err("it is damaged; `rep audit verify` says what can be told"),
        }
    }

    fn write(&self, path: &Path) -> Result<(), StorageError> {
        let value = json!({ "v": VERSION, "seq": self.seq, "hash": self.hash, "bytes": self.bytes });
        files::replace(path, format!("{value}\n").as_bytes())
    }

    /// Follows the records of a tail as far as they continue the chain, and gives back what is left unfinished. A record that
    /// lacks nothing but the end of its line is whole.
    fn follow<'a>(&mut self, mut tail: &'a [u8]) -> &'a [u8] {
        while !tail.is_empty() {
            let end = tail.iter().position(|byte| *byte == b'\n').unwrap_or(tail.len());
            let Some(link) = Link::of(&tail[..end]).filter(|link| link.continues(self.seq, &self.hash)) else { break };
            (self.seq, self.hash) = (link.seq, link.hash);
            tail = tail.get(end + 1..).unwrap_or_default();
        }
        tail
    }

    /// Makes the line of the next record, and steps on to it.
    fn line(&mut self, kind: &str, record: Map<String, Value>, at: SystemTime) -> Vec<u8> {
        let mut line = json!({
            "v": VERSION,
            "seq": self.seq + 1,
            "prev": self.hash,
            "at": time::text(at),
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

/// What ties a record to the one before.
struct Link {
    seq: u64,
    prev: String,
    hash: String,
    record: Value,
}

impl Link {
    /// Reads a line whose hash is right.
    fn of(line: &[u8]) -> Option<Link> {
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
        (record.get("v").and_then(Value::as_u64)? <= VERSION).then_some(Link { seq, prev, hash, record })
    }

    fn continues(&self, seq: u64, hash: &str) -> bool {
        self.seq == seq + 1 && self.prev == hash
    }
}
