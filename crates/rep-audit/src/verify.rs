//! Whether the records are the ones that were written, all of them, in order.

use std::io::{self, BufRead, BufReader, Read};

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{Audit, Head, LINE_BYTES_MAX, Link, NOTHING};
use rep_storage::files::{self, StorageError};

/// The most faults that are told.
const FAULTS_MAX: usize = 100;

/// What looking through the records gave.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// How many records are in order.
    pub records: u64,
    /// What is wrong, with the line it shows on.
    pub faults: Vec<String>,
    /// What a crash left, and was accounted for.
    pub notes: Vec<String>,
}

impl Verdict {
    pub(super) fn fault(&mut self, line: u64, message: &str) {
        if self.faults.len() < FAULTS_MAX {
            self.faults.push(if line == 0 { message.to_owned() } else { format!("line {line}: {message}") });
        }
    }
}

/// The chain as far as it was followed.
struct Chain {
    seq: u64,
    hash: String,
    /// Lines that are no records, and have not been accounted for, with the number of the first.
    stray: Vec<u8>,
    stray_line: u64,
    /// Whether the record the head names was passed.
    has_head: bool,
}

/// Looks through all records.
pub fn verify(audit: &Audit) -> Result<Verdict, StorageError> {
    let path = audit.file();
    let failed = |error| StorageError::new("read", &path, error);
    let mut verdict = Verdict::default();
    if !path.exists() && !audit.head_file().exists() {
        return Ok(verdict);
    }
    // What stands there now does not change any more: nobody is held up while it is looked through.
    // Where nothing can be written there is nobody to wait for.
    let lock = files::lock(&path).ok();
    let file = files::open_there(&path)?;
    let length = file.as_ref().map_or(Ok(0), |file| file.metadata().map(|about| about.len())).map_err(failed)?;
    let head = match Head::read(&audit.head_file()) {
        Ok(head) => head,
        Err(error) => {
            verdict.fault(0, &error.to_string());
            None
        }
    };
    drop(lock);
    match file {
        Some(file) => check_chain(BufReader::new(file.take(length)), head.as_ref(), &mut verdict),
        None => check_chain(io::empty(), head.as_ref(), &mut verdict),
    }
    .map_err(failed)?;
    Ok(verdict)
}

/// Follows the records of a file from the first to the last, and compares the last with the head.
pub(super) fn check_chain(mut records: impl BufRead, head: Option<&Head>, verdict: &mut Verdict) -> io::Result<()> {
    let mut chain = Chain {
        seq: 0,
        hash: NOTHING.to_owned(),
        stray: Vec::new(),
        stray_line: 0,
        has_head: head.is_some_and(|head| head.seq == 0 && head.hash == NOTHING),
    };
    let mut number = 0;
    loop {
        let mut line = Vec::new();
        if records.by_ref().take(LINE_BYTES_MAX as u64).read_until(b'\n', &mut line)? == 0 {
            break;
        }
        number += 1;
        chain.step(&line, number, head, verdict);
    }
    chain.finish(head, number, verdict);
    Ok(())
}

impl Chain {
    fn step(&mut self, line: &[u8], number: u64, head: Option<&Head>, verdict: &mut Verdict) {
        let whole = line.strip_suffix(b"\n");
        let Some(link) = whole.and_then(Link::of) else {
            if self.stray.is_empty() {
                self.stray_line = number;
            }
            self.stray.extend_from_slice(line);
            return;
        };
        let is_next = link.continues(self.seq, &self.hash);
        self.account(&link, is_next, verdict);
        if is_next {
            verdict.records += 1;
        } else if link.seq <= self.seq {
            verdict.fault(number, &format!("record {} stands behind record {}", link.seq, self.seq));
        } else if link.seq > self.seq + 1 {
            verdict.fault(number, &missing(self.seq + 1, link.seq - 1));
        } else {
            verdict.fault(number, &format!("record {} does not follow what stands before it", link.seq));
        }
        if link.record.get("is_headless") == Some(&Value::Bool(true)) {
            verdict.fault(number, "the head was missing here, so records before may have been cut off");
        }
        self.has_head |= head.is_some_and(|head| head.seq == link.seq && head.hash == link.hash);
        (self.seq, self.hash) = (link.seq, link.hash);
    }

    /// Says what became of lines that are no records: a crash, if the record behind them says so, else somebody's doing.
    fn account(&mut self, link: &Link, is_next: bool, verdict: &mut Verdict) {
        if self.stray.is_empty() {
            return;
        }
        let stray = std::mem::take(&mut self.stray);
        let stray = stray.strip_suffix(b"\n").unwrap_or(&stray);
        let names = |digest: &str| link.record.get("digest").and_then(Value::as_str) == Some(digest);
        if is_next
            && link.record.get("kind").and_then(Value::as_str) == Some("mended")
            && link.record.get("is_foreign") != Some(&Value::Bool(true))
            && names(&hex::encode(Sha256::digest(stray)))
        {
            verdict.notes.push(format!("line {}: a record was left unfinished, and mended", self.stray_line));
        } else {
            verdict.fault(self.stray_line, "this is no record as it was written");
        }
    }

    fn finish(&mut self, head: Option<&Head>, last_line: u64, verdict: &mut Verdict) {
        let Some(head) = head else {
            if last_line > 0 {
                verdict.fault(0, "the head is missing, so records may have been cut off at the end");
            }
            return;
        };
        if !self.stray.is_empty() {
            // Only what stands behind the head and has no end of line can be a crash's; the next record will account for it.
            if self.has_head && self.seq >= head.seq && !self.stray.contains(&b'\n') {
                verdict.notes.push(format!("line {}: a record was left unfinished", self.stray_line));
            } else {
                verdict.fault(self.stray_line, "this is no record as it was written");
            }
        }
        if head.seq > self.seq {
            verdict.fault(0, &format!("{} at the end", missing(self.seq + 1, head.seq)));
        } else if !self.has_head {
            verdict.fault(0, &format!("record {} is not the one that was written last", head.seq));
        }
    }
}

fn missing(from: u64, to: u64) -> String {
    if from == to { format!("record {from} is missing") } else { format!("records {from} to {to} are missing") }
}
