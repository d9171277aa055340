//! What clients asked a server, kept behind their back: a call waits for the disk only where the record falls behind.

use std::io::{BufRead, BufReader, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime};

use serde_json::{Map, Value, json};

use super::{Audit, LINE_BYTES_MAX};
use crate::keep::{self, KeepError};
use crate::owner::Owner;

/// How many calls may wait for the disk.
const WAITING_MAX: usize = 4096;
/// The most that is written at once.
const AT_ONCE_MAX: usize = 1024;
/// How long is waited before a record that failed is tried again.
const PAUSE: Duration = Duration::from_secs(1);

/// One record of a call.
type Made = (&'static str, Map<String, Value>, SystemTime);

/// Keeps the record of calls. Many that come at once are one write.
pub struct Calls {
    sender: Mutex<Option<SyncSender<Made>>>,
    is_failing: Arc<AtomicBool>,
    /// Asks a writer that waits to try again no more.
    end: Sender<()>,
    writer: Mutex<Option<JoinHandle<()>>>,
}

impl Calls {
    /// Begins the record of a server, with a first record that says so. Where this fails nothing may be served.
    /// `warn` hears when later ones cannot be kept.
    pub fn begin(
        audit: Audit,
        about: Map<String, Value>,
        at: SystemTime,
        warn: impl Fn(&str) + Send + 'static,
    ) -> Result<Self, KeepError> {
        let owner = Owner::this();
        let mut record = about;
        record.insert("uid".to_owned(), json!(rustix::process::geteuid().as_raw()));
        record.insert("pid".to_owned(), json!(owner.pid));
        audit.append("serve", record, at)?;
        let (sender, receiver) = sync_channel(WAITING_MAX);
        let (end, ended) = channel();
        let is_failing = Arc::new(AtomicBool::new(false));
        let failing = Arc::clone(&is_failing);
        let writer = std::thread::spawn(move || write(&audit, &receiver, &ended, &failing, &warn));
        Ok(Self { sender: Mutex::new(Some(sender)), is_failing, end, writer: Mutex::new(Some(writer)) })
    }

    /// Takes a call in. False where it cannot be kept: then it must not be answered.
    pub fn keep(&self, record: Map<String, Value>, at: SystemTime) -> bool {
        let sender = self.sender.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let is_failing = self.is_failing.load(Ordering::Relaxed);
        !is_failing && sender.is_some_and(|sender| sender.send(("call", record, at)).is_ok())
    }

    /// Waits until everything that was taken in is on the disk, or cannot be.
    pub fn finish(&self) {
        drop(self.sender.lock().unwrap_or_else(PoisonError::into_inner).take());
        let _ = self.end.send(());
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        // One that panicked has said so itself.
        let _ = writer.map(JoinHandle::join);
    }
}

/// Writes what comes until nobody sends any more.
fn write(audit: &Audit, receiver: &Receiver<Made>, ended: &Receiver<()>, is_failing: &AtomicBool, warn: &dyn Fn(&str)) {
    while let Ok(first) = receiver.recv() {
        let mut batch = vec![first];
        batch.extend(receiver.try_iter().take(AT_ONCE_MAX - 1));
        let mut is_last = false;
        while let Err(error) = audit.append_all(batch.clone()) {
            if !is_failing.swap(true, Ordering::Relaxed) {
                warn(&format!("calls are not answered until they can be recorded again: {error}"));
            }
            if is_last {
                warn(&format!("{} calls could not be recorded", batch.len()));
                break;
            }
            is_last = !matches!(ended.recv_timeout(PAUSE), Err(RecvTimeoutError::Timeout));
        }
        if !is_last && is_failing.swap(false, Ordering::Relaxed) {
            warn("calls are recorded again");
        }
    }
}

/// Shows every record of calls, from the oldest on. Lines that are no records are passed over: finding them is for
/// [`super::verify()`].
pub fn calls(audit: &Audit, mut show: impl FnMut(Value)) -> Result<(), KeepError> {
    let path = audit.file();
    let Some(file) = keep::open_there(&path)? else { return Ok(()) };
    let mut file = BufReader::new(file);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = file.by_ref().take(LINE_BYTES_MAX as u64 + 1).read_until(b'\n', &mut line);
        if read.map_err(|error| KeepError::new("read", &path, error))? == 0 {
            return Ok(());
        }
        if let Ok(record) = serde_json::from_slice::<Value>(&line) {
            show(record);
        }
    }
}
