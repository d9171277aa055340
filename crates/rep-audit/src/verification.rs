//! Verifies that the log contains all records, unchanged and in order.

use std::io::{self, BufRead, BufReader, Read};

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{AuditLog, ChainHead, ChainLink, LINE_BYTES_MAX, ZERO_HASH};
use rep_storage::files::{self, StorageError};

/// The maximum number of faults that are reported.
const FAULTS_MAX: usize = 100;

/// The result of verifying a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditVerification {
    /// The number of valid records.
    pub records: u64,
    /// The faults, each with its line if it has one.
    pub faults: Vec<String>,
    /// The traces of crashes that later records account for.
    pub notes: Vec<String>,
}

impl AuditVerification {
    pub(super) fn add_fault(&mut self, line: u64, message: &str) {
        if self.faults.len() < FAULTS_MAX {
            self.faults.push(if line == 0 { message.to_owned() } else { format!("line {line}: {message}") });
        }
    }
}

/// The state of the chain up to the current line.
struct ChainCheck {
    seq: u64,
    hash: String,
    /// Consecutive lines that are not records and are not accounted for yet.
    stray: Vec<u8>,
    stray_line: u64,
    /// Whether the record that the head names was reached.
    has_head: bool,
}

/// Verifies all records of a log.
pub fn verify_log(audit: &AuditLog) -> Result<AuditVerification, StorageError> {
    let path = audit.records_path();
    let failed = |error| StorageError::new("read", &path, error);
    let mut verdict = AuditVerification::default();
    if !path.exists() && !audit.head_path().exists() {
        return Ok(verdict);
    }
    // The lock is needed only to read the length and the head: existing records never change. If the lock file cannot
    // be written, no other process can write either.
    let lock = files::lock_file(&path).ok();
    let (full, file) = audit.open_all()?;
    let length = file.as_ref().map_or(Ok(0), |file| file.metadata().map(|about| about.len())).map_err(failed)?;
    let head = match ChainHead::read_file(&audit.head_path()) {
        Ok(head) => head,
        Err(error) => {
            verdict.add_fault(0, &error.to_string());
            None
        }
    };
    drop(lock);
    let mut chain = ChainCheck::new(head.as_ref());
    for path in &full {
        let Some(file) = files::open_existing(path)? else { continue };
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let (faults, notes) = (verdict.faults.len(), verdict.notes.len());
        let lines = chain.check_records(BufReader::new(file), head.as_ref(), &mut verdict);
        lines.map_err(|error| StorageError::new("read", path, error))?;
        chain.check_full_file_end(&mut verdict);
        let new = verdict.faults.iter_mut().skip(faults).chain(verdict.notes.iter_mut().skip(notes));
        new.for_each(|text| *text = format!("{name}: {text}"));
    }
    let lines = match file {
        Some(file) => chain.check_records(BufReader::new(file.take(length)), head.as_ref(), &mut verdict),
        None => chain.check_records(io::empty(), head.as_ref(), &mut verdict),
    };
    chain.check_end(head.as_ref(), lines.map_err(failed)?, &mut verdict);
    Ok(verdict)
}

/// Verifies the records of a file in order and compares the last one with the head.
pub(super) fn check_chain(
    records: impl BufRead,
    head: Option<&ChainHead>,
    verdict: &mut AuditVerification,
) -> io::Result<()> {
    let mut chain = ChainCheck::new(head);
    let lines = chain.check_records(records, head, verdict)?;
    chain.check_end(head, lines, verdict);
    Ok(())
}

impl ChainCheck {
    fn new(head: Option<&ChainHead>) -> Self {
        Self {
            seq: 0,
            hash: ZERO_HASH.to_owned(),
            stray: Vec::new(),
            stray_line: 0,
            has_head: head.is_some_and(|head| head.seq == 0 && head.hash == ZERO_HASH),
        }
    }

    /// Verifies the records of a file, and returns the number of its lines.
    fn check_records(
        &mut self,
        mut records: impl BufRead,
        head: Option<&ChainHead>,
        verdict: &mut AuditVerification,
    ) -> io::Result<u64> {
        let mut number = 0;
        loop {
            let mut line = Vec::new();
            if records.by_ref().take(LINE_BYTES_MAX as u64).read_until(b'\n', &mut line)? == 0 {
                return Ok(number);
            }
            number += 1;
            self.check_line(&line, number, head, verdict);
        }
    }

    /// A file is full only if it ends with a record.
    fn check_full_file_end(&mut self, verdict: &mut AuditVerification) {
        if !std::mem::take(&mut self.stray).is_empty() {
            verdict.add_fault(self.stray_line, "invalid or modified record");
        }
    }

    /// Begins with the first record of a file whose predecessors were moved away.
    fn skip_moved_files(&mut self, link: &ChainLink, verdict: &mut AuditVerification) {
        let is_rotated = link.record.get("kind").and_then(Value::as_str) == Some("rotated");
        if self.seq == 0 && link.seq > 1 && is_rotated && self.stray.is_empty() {
            verdict.notes.push(format!("records 1 to {} are in files that were moved away", link.seq - 1));
            (self.seq, self.hash) = (link.seq - 1, link.prev.clone());
        }
    }

    fn check_line(&mut self, line: &[u8], number: u64, head: Option<&ChainHead>, verdict: &mut AuditVerification) {
        let whole = line.strip_suffix(b"\n");
        let Some(link) = whole.and_then(ChainLink::parse_line) else {
            if self.stray.is_empty() {
                self.stray_line = number;
            }
            self.stray.extend_from_slice(line);
            return;
        };
        if number == 1 {
            self.skip_moved_files(&link, verdict);
        }
        let is_next = link.is_successor_of(self.seq, &self.hash);
        self.account_for_stray(&link, is_next, verdict);
        if is_next {
            verdict.records += 1;
        } else if link.seq <= self.seq {
            verdict.add_fault(number, &format!("record {} appears after record {}", link.seq, self.seq));
        } else if link.seq > self.seq + 1 {
            verdict.add_fault(number, &describe_missing(self.seq + 1, link.seq - 1));
        } else {
            verdict.add_fault(number, &format!("record {} does not follow the previous record", link.seq));
        }
        if link.record.get("is_headless") == Some(&Value::Bool(true)) {
            verdict.add_fault(number, "the head was missing here, so earlier records may have been cut off");
        }
        self.has_head |= head.is_some_and(|head| head.seq == link.seq && head.hash == link.hash);
        (self.seq, self.hash) = (link.seq, link.hash);
    }

    /// Classifies lines that are not records: the result of a crash if the next record accounts for them, or else a
    /// fault.
    fn account_for_stray(&mut self, link: &ChainLink, is_next: bool, verdict: &mut AuditVerification) {
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
            verdict.notes.push(format!("line {}: an unfinished record was accounted for", self.stray_line));
        } else {
            verdict.add_fault(self.stray_line, "invalid or modified record");
        }
    }

    fn check_end(&mut self, head: Option<&ChainHead>, last_line: u64, verdict: &mut AuditVerification) {
        let Some(head) = head else {
            if last_line > 0 {
                verdict.add_fault(0, "the head is missing, so records may have been cut off at the end");
            }
            return;
        };
        if !self.stray.is_empty() {
            // Only an incomplete line after the head can result from a crash. The next record will account for it.
            if self.has_head && self.seq >= head.seq && !self.stray.contains(&b'\n') {
                verdict.notes.push(format!("line {}: unfinished record", self.stray_line));
            } else {
                verdict.add_fault(self.stray_line, "invalid or modified record");
            }
        }
        if head.seq > self.seq {
            verdict.add_fault(0, &format!("{} at the end", describe_missing(self.seq + 1, head.seq)));
        } else if !self.has_head {
            verdict.add_fault(0, &format!("record {} is not the last record that was written", head.seq));
        }
    }
}

fn describe_missing(from: u64, to: u64) -> String {
    if from == to { format!("record {from} is missing") } else { format!("records {from} to {to} are missing") }
}
