//! The record of what clients ask a server. It is written in the background, so that no call waits for the disk; a call that
//! could not be recorded is not made.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::time::{Duration, SystemTime};

use parking_lot::Mutex;
use serde_json::{Map, Value, json};

use super::Audit;
use rep_storage::StorageError;
use rep_storage::owner::Owner;

/// How many calls may wait for the disk.
const WAITING_MAX: usize = 4096;
/// The most that is written at once.
const AT_ONCE_MAX: usize = 1024;
/// How long is waited before a record that failed is tried again.
const PAUSE: Duration = Duration::from_secs(1);
/// How long the end waits for the disk.
const GRACE: Duration = Duration::from_secs(5);

/// One record of a call.
type PendingRecord = (&'static str, Map<String, Value>, SystemTime);

/// A call that was made.
#[derive(Clone, Debug, Default)]
pub struct CallRecord {
    /// Who made it: the client as it calls itself, which proves nothing.
    pub who: String,
    /// What let it in: a token or a subject, if there is one.
    pub bearer: Option<String>,
    /// The request's id, as its answer and the log have it.
    pub request: String,
    /// The method.
    pub method: String,
    /// What it was about: a tool, an address, a prompt; empty if there is nothing to name.
    pub target: String,
    /// The skill it was about, if one is served by that name.
    pub skill: Option<String>,
    /// The digest of its arguments, which may be anybody's data.
    pub input_digest: Option<String>,
    /// `ok`, `asked`, `task`, or the code of the error.
    pub outcome: String,
    /// How long it took.
    pub duration_ms: u64,
}

impl CallRecord {
    /// The fields of the record; what is absent is left out.
    fn fields(&self) -> Map<String, Value> {
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
        });
        let fields = record.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
        fields.map(|(name, value)| (name.clone(), value.clone())).collect()
    }
}

/// Records calls. Many that come at once are one write.
pub struct CallRecorder {
    sender: Mutex<Option<SyncSender<PendingRecord>>>,
    state: Arc<State>,
    /// Dropped to tell a writer that waits to try once more and no further.
    end: Mutex<Option<Sender<()>>>,
    /// Told when the writer is done.
    done: Mutex<Receiver<()>>,
}

#[derive(Default)]
struct State {
    is_failing: AtomicBool,
    /// How many were taken in and are not on the disk.
    waiting: AtomicUsize,
}

impl CallRecorder {
    /// Begins the record of a server, with a first record that says so. Where this fails nothing may be served.
    /// `warn` hears when later ones cannot be kept.
    pub fn begin(
        audit: Audit,
        about: Map<String, Value>,
        at: SystemTime,
        warn: impl Fn(&str) + Send + 'static,
    ) -> Result<Self, StorageError> {
        let owner = Owner::this();
        let mut record = about;
        record.insert("uid".to_owned(), json!(rustix::process::geteuid().as_raw()));
        record.insert("pid".to_owned(), json!(owner.pid));
        audit.append("serve", record, at)?;
        let (sender, receiver) = sync_channel(WAITING_MAX);
        let (end, ended) = channel();
        let (over, done) = sync_channel(1);
        let state = Arc::new(State::default());
        let inside = Arc::clone(&state);
        std::thread::spawn(move || {
            write(&audit, &receiver, &ended, &inside, &warn);
            // Whoever waited too long is not there to hear it.
            let _ = over.send(());
        });
        Ok(Self { sender: Mutex::new(Some(sender)), state, end: Mutex::new(Some(end)), done: Mutex::new(done) })
    }

    /// Whether a call that is made now can be kept, as far as one can know. Asked before it is made.
    pub fn is_open(&self) -> bool {
        !self.state.is_failing.load(Ordering::Relaxed) && self.state.waiting.load(Ordering::Relaxed) < WAITING_MAX
    }

    /// Takes a call, without waiting. False if it cannot be recorded: then it must not be answered.
    pub fn record(&self, call: &CallRecord, at: SystemTime) -> bool {
        let record = call.fields();
        let sender = self.sender.lock().clone();
        self.state.waiting.fetch_add(1, Ordering::Relaxed);
        let is_kept = sender.is_some_and(|sender| sender.try_send(("call", record, at)).is_ok());
        if !is_kept {
            self.state.waiting.fetch_sub(1, Ordering::Relaxed);
        }
        is_kept
    }

    /// Waits until everything that was taken in is on the disk, for a while. How many are not.
    pub fn finish(&self) -> usize {
        drop(self.sender.lock().take());
        drop(self.end.lock().take());
        let _ = self.done.lock().recv_timeout(GRACE);
        self.state.waiting.load(Ordering::Relaxed)
    }
}

/// Writes what comes until nobody sends any more.
fn write(audit: &Audit, receiver: &Receiver<PendingRecord>, ended: &Receiver<()>, state: &State, warn: &dyn Fn(&str)) {
    while let Ok(first) = receiver.recv() {
        let mut batch = vec![first];
        batch.extend(receiver.try_iter().take(AT_ONCE_MAX - 1));
        loop {
            match audit.append_all(batch.clone()) {
                Ok(()) => {
                    state.waiting.fetch_sub(batch.len(), Ordering::Relaxed);
                    if state.is_failing.swap(false, Ordering::Relaxed) {
                        warn("calls are recorded again");
                    }
                    break;
                }
                Err(error) => {
                    if !state.is_failing.swap(true, Ordering::Relaxed) {
                        warn(&format!("no call is made until calls can be recorded again: {error}"));
                    }
                    // At the end each is tried once more; what cannot be kept then is counted.
                    if ended.recv_timeout(PAUSE) == Err(RecvTimeoutError::Disconnected) {
                        break;
                    }
                }
            }
        }
    }
}
