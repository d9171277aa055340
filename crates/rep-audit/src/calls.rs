//! Records the calls that clients make to a server. Records are written in the background so that calls do not wait for
//! the disk. A call that cannot be recorded is refused.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::time::{Duration, SystemTime};

use parking_lot::Mutex;
use serde_json::{Map, Value, json};

use super::AuditLog;
use rep_storage::StorageError;
use rep_storage::files;
use rep_storage::owner::ProcessOwner;
use rep_storage::platform::user_id;

/// The maximum number of records waiting to be written.
const PENDING_MAX: usize = 4096;
/// The maximum number of records in one write.
const BATCH_MAX: usize = 1024;
/// The delay before a failed write is retried.
const RETRY_PAUSE: Duration = Duration::from_secs(1);
/// The number of bytes at the end of the record that are read to find the most used skills.
const RECENT_BYTES_MAX: u64 = 256 << 10;
/// How long [`CallRecorder::finish`] waits for pending records.
const FINISH_TIMEOUT: Duration = Duration::from_secs(5);

/// A record waiting to be written: its kind, fields and time.
type PendingRecord = (&'static str, Map<String, Value>, SystemTime);

/// A call from a client.
#[derive(Clone, Debug, Default)]
pub struct CallRecord {
    /// The client's own name for itself. It is not verified.
    pub who: String,
    /// The token or subject that authorized the call, if any.
    pub bearer: Option<String>,
    /// The request id, as it appears in the response and in the log.
    pub request: String,
    /// The MCP method.
    pub method: String,
    /// The tool, URI or prompt that was requested, or an empty string.
    pub target: String,
    /// The skill that was called, if one is served under that name.
    pub skill: Option<String>,
    /// The digest of the arguments. The arguments themselves may contain personal data and are not recorded.
    pub input_digest: Option<String>,
    /// `ok`, `asked`, `task`, or the error code.
    pub outcome: String,
    /// The duration in milliseconds.
    pub duration_ms: u64,
    /// The address of the client, for requests with a wrong token.
    pub peer: Option<String>,
    /// The number of requests with a wrong token that the record counts.
    pub count: Option<u64>,
}

impl CallRecord {
    /// Builds the record's fields, without those that have no value.
    fn to_fields(&self) -> Map<String, Value> {
        let record = json!({
            "who": self.who,
            "bearer": self.bearer,
            "request": self.request,
            "method": self.method,
            "target": self.target,
            "skill": self.skill,
            "input_digest": self.input_digest,
            "outcome": self.outcome,
            "duration_ms": self.duration_ms,
            "peer": self.peer,
            "count": self.count,
        });
        let fields = record.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
        fields.map(|(name, value)| (name.clone(), value.clone())).collect()
    }
}

/// Records calls in the background and writes concurrent calls in batches.
pub struct CallRecorder {
    sender: Mutex<Option<SyncSender<PendingRecord>>>,
    state: Arc<RecorderState>,
    log: AuditLog,
    /// Dropped to make the writer stop after one more attempt.
    end: Mutex<Option<Sender<()>>>,
    /// Receives a message when the writer has finished.
    done: Mutex<Receiver<()>>,
}

#[derive(Default)]
struct RecorderState {
    is_failing: AtomicBool,
    /// The number of accepted records that are not on disk yet.
    pending: AtomicUsize,
}

impl CallRecorder {
    /// Starts recording and writes a `serve` record. If this fails, the server must not start. Calls `warn` when later
    /// records cannot be written, and when recording resumes.
    pub fn start_recording(
        audit: AuditLog,
        about: Map<String, Value>,
        at: SystemTime,
        warn: impl Fn(&str) + Send + 'static,
    ) -> Result<Self, StorageError> {
        let owner = ProcessOwner::current();
        let mut record = about;
        record.insert("uid".to_owned(), json!(user_id()));
        record.insert("pid".to_owned(), json!(owner.pid));
        audit.append_record("serve", record, at)?;
        let log = audit.clone();
        let (sender, receiver) = sync_channel(PENDING_MAX);
        let (end, ended) = channel();
        let (over, done) = sync_channel(1);
        let state = Arc::new(RecorderState::default());
        let inside = Arc::clone(&state);
        std::thread::spawn(move || {
            write_pending_records(&audit, &receiver, &ended, &inside, &warn);
            // The receiver may have stopped waiting.
            let _ = over.send(());
        });
        let (sender, end) = (Mutex::new(Some(sender)), Mutex::new(Some(end)));
        Ok(Self { sender, state, log, end, done: Mutex::new(done) })
    }

    /// Returns whether a call made now can be recorded, as far as is known. Check this before making a call.
    pub fn can_record(&self) -> bool {
        !self.state.is_failing.load(Ordering::Relaxed) && self.state.pending.load(Ordering::Relaxed) < PENDING_MAX
    }

    /// Returns the size of all records, in bytes.
    pub fn record_bytes(&self) -> u64 {
        self.log.total_bytes()
    }

    /// Counts the uses of skills in the newest records.
    pub fn count_recent_skills(&self) -> BTreeMap<String, u64> {
        let mut counts = BTreeMap::new();
        let mut newest = read_newest(&self.log.records_path());
        if (newest.len() as u64) < RECENT_BYTES_MAX
            && let Some(full) = self.log.list_full_files().last()
        {
            newest.extend(read_newest(full));
        }
        for line in newest.split(|byte| *byte == b'\n') {
            // The first line may be cut.
            let Ok(record) = serde_json::from_slice::<Value>(line) else { continue };
            let text = |field: &str| record.get(field).and_then(Value::as_str);
            if let (Some("tools/call"), Some(skill), Some("ok")) = (text("method"), text("skill"), text("outcome")) {
                *counts.entry(skill.to_owned()).or_default() += 1;
            }
        }
        counts
    }

    /// Queues a call without waiting. Returns `false` if it cannot be recorded; the call must then not be answered.
    pub fn record_call(&self, call: &CallRecord, at: SystemTime) -> bool {
        let record = call.to_fields();
        let sender = self.sender.lock().clone();
        self.state.pending.fetch_add(1, Ordering::Relaxed);
        let is_kept = sender.is_some_and(|sender| sender.try_send(("call", record, at)).is_ok());
        if !is_kept {
            self.state.pending.fetch_sub(1, Ordering::Relaxed);
        }
        is_kept
    }

    /// Waits for pending records to be written, up to a time limit. Returns the number that were not written.
    pub fn finish(&self) -> usize {
        drop(self.sender.lock().take());
        drop(self.end.lock().take());
        let _ = self.done.lock().recv_timeout(FINISH_TIMEOUT);
        self.state.pending.load(Ordering::Relaxed)
    }
}

/// Reads the newest part of a file.
fn read_newest(path: &Path) -> Vec<u8> {
    let Ok(Some(file)) = files::open_existing(path) else { return Vec::new() };
    let length = file.metadata().map_or(0, |data| data.len());
    super::read_tail(&file, length.saturating_sub(RECENT_BYTES_MAX)).unwrap_or_default()
}

/// Writes queued records until the sender is dropped.
fn write_pending_records(
    audit: &AuditLog,
    receiver: &Receiver<PendingRecord>,
    ended: &Receiver<()>,
    state: &RecorderState,
    warn: &dyn Fn(&str),
) {
    while let Ok(first) = receiver.recv() {
        let mut batch = vec![first];
        batch.extend(receiver.try_iter().take(BATCH_MAX - 1));
        loop {
            match audit.append_all(batch.clone()) {
                Ok(()) => {
                    state.pending.fetch_sub(batch.len(), Ordering::Relaxed);
                    if state.is_failing.swap(false, Ordering::Relaxed) {
                        warn("recording calls again");
                    }
                    break;
                }
                Err(error) => {
                    if !state.is_failing.swap(true, Ordering::Relaxed) {
                        warn(&format!("refusing calls until they can be recorded again: {error}"));
                    }
                    // Each batch is tried once more during shutdown. Records that still fail are counted as not
                    // written.
                    if ended.recv_timeout(RETRY_PAUSE) == Err(RecvTimeoutError::Disconnected) {
                        break;
                    }
                }
            }
        }
    }
}
