//! Verifies an audit log of any lines. A log without faults remains so when a record is appended, and has a fault when
//! a record is removed or a byte changes.
//!
//! Random changes do not find SHA-256 sums, so the target writes them: in every line `@` becomes the sum of the
//! previous record, `+` at the start of a line appends the sum of that line, and a line that starts with `=` is the
//! head.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rep_audit::fuzzing::{append_bytes, verify_bytes};
use sha2::{Digest, Sha256};

fuzz_target!(|bytes: &[u8]| {
    let (lines, head) = lay_out(bytes);
    let log = lines.concat();
    let verdict = verify_bytes(&log, head.as_ref().map(|(head, _)| head.as_slice()));
    assert!(verdict.faults.len() <= 100 && verdict.records <= lines.len() as u64);
    let Some((head, behind)) = head else { return };
    let appended = append_bytes(&lines[behind..].concat(), &head);
    if !verdict.faults.is_empty() || !verdict.notes.is_empty() {
        return;
    }
    let appended = appended.expect("a head that verifies can be read");
    let longer = [log.as_slice(), &appended].concat();
    let after = verify_bytes(&longer, Some(&head));
    assert!(after.faults.is_empty() && after.records == verdict.records + 1, "{after:?}");
    // Records after the head can be the result of a crash, and are only noted.
    let is_whole = serde_json::from_slice::<serde_json::Value>(&head).is_ok_and(|head| head["seq"] == verdict.records);
    if verdict.records == 0 || !is_whole {
        return;
    }
    let at = usize::from(bytes[bytes.len() / 2]);
    let mut shorter = lines.clone();
    shorter.remove(at % lines.len());
    assert!(!verify_bytes(&shorter.concat(), Some(&head)).faults.is_empty(), "a record is missing");
    let mut changed = log.clone();
    changed[at * 7 % log.len()] ^= 1;
    assert!(!verify_bytes(&changed, Some(&head)).faults.is_empty(), "a byte was changed");
});

/// Returns the lines of the log with their sums, and the last head with the number of lines before it.
fn lay_out(bytes: &[u8]) -> (Vec<Vec<u8>>, Option<(Vec<u8>, usize)>) {
    let (mut lines, mut head) = (Vec::new(), None);
    let mut sum = "0".repeat(64).into_bytes();
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let mut line = line.split(|byte| *byte == b'@').collect::<Vec<_>>().join(sum.as_slice());
        match line.first() {
            Some(b'=') => head = Some((line.split_off(1), lines.len())),
            Some(b'+') => {
                let body = line[1..].strip_suffix(b"\n").unwrap_or(&line[1..]);
                sum = Sha256::digest(body).iter().flat_map(|byte| format!("{byte:02x}").into_bytes()).collect();
                lines.push([body, b",\"hash\":\"", &sum, b"\"}\n"].concat());
            }
            _ => lines.push(line),
        }
    }
    (lines, head)
}
