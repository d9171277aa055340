//! The record: what tampering is found, what a crash leaves, and what many writers do.
#![expect(clippy::disallowed_methods, reason = "tests read and change the files of the record")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use proptest::prelude::*;
use rep_audit::{
    AuditLog, AuditRunState, RecordPosition, RecordedDenial, RunEnding, RunSubject, for_each_new_record,
    for_each_record, read_runs, verify_log, without_chain_fields,
};
use serde_json::json;

use sha2::{Digest, Sha256};

fn at(seconds: u64) -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(seconds)
}

/// A run that may write and connect.
fn subject() -> RunSubject {
    RunSubject {
        skill: "pdf".to_owned(),
        digest: "0123".to_owned(),
        tool: "fill".to_owned(),
        workspace: "/work".to_owned(),
        input_digest: hex::encode(Sha256::digest(br#"{"path":"a.pdf"}"#)),
        is_confined: true,
        policy: json!({ "permissions": { "filesystem": { "write": ["output/**"] } } }),
        provenance: None,
    }
}

fn run(audit: &AuditLog, seconds: u64) {
    let running = audit.start_run(&subject(), "given", "ada", at(seconds)).expect("a start can be recorded");
    let ending = RunEnding {
        outcome: "ok",
        message: None,
        exit: Some("code 0".to_owned()),
        layers: vec![("landlock", "enforced")],
        denials: vec![RecordedDenial {
            action: "read",
            target: "secret/key.txt",
            declaration: "permissions.filesystem.read",
            suggestion: None,
        }],
        denials_omitted: 7,
        written: &["output/a.pdf".to_owned()],
        duration_ms: 12,
    };
    running.record_end(&ending, at(seconds + 1)).expect("an end can be recorded");
}

fn faults(audit: &AuditLog) -> Vec<String> {
    verify_log(audit).expect("the record can be read").faults
}

#[test]
fn a_run_leaves_a_start_and_an_end() {
    let folder = tempfile::tempdir().unwrap();
    let audit = AuditLog::for_runs(&folder.path().join("inner"));
    assert_eq!((verify_log(&audit).unwrap().records, read_runs(&audit, |_| true).unwrap().len()), (0, 0));
    run(&audit, 1);
    audit.record_refusal(&subject(), "UNTRUSTED", "no", "ada", at(5)).unwrap();
    let found = read_runs(&audit, |_| true).unwrap();
    assert_eq!(
        found.iter().map(|entry| entry.state).collect::<Vec<_>>(),
        [AuditRunState::Ended, AuditRunState::Refused]
    );
    assert_eq!(
        (found[0].text_field("who"), found[0].text_field("outcome"), found[0].text_field("consent")),
        ("ada", "ok", "given")
    );
    assert_eq!(found[0].find_field("denials").unwrap()[0]["target"], "secret/key.txt");
    assert_eq!(found[0].find_field("policy").unwrap()["permissions"]["filesystem"]["write"][0], "output/**");
    assert_eq!(found[1].text_field("outcome"), "UNTRUSTED");
    // The arguments are somebody's data; their digest is enough to compare.
    assert!(!fs::read_to_string(audit.records_path()).unwrap().contains("a.pdf\"}"));
    assert_eq!((verify_log(&audit).unwrap().records, faults(&audit)), (3, vec![]));
    for name in ["audit.jsonl", "audit.head", "audit.lock"] {
        let mode = fs::metadata(folder.path().join("inner").join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

#[test]
fn a_start_without_an_end_is_running_or_cut_short() {
    let folder = tempfile::tempdir().unwrap();
    let audit = AuditLog::for_runs(folder.path());
    let running = audit.start_run(&subject(), "given", "ada", at(1)).unwrap();
    assert_eq!(read_runs(&audit, |_| true).unwrap()[0].state, AuditRunState::Running);
    drop(running);
    // As if the process that wrote it were gone; the chain is not what is looked at here.
    let text = fs::read_to_string(audit.records_path()).unwrap();
    fs::write(audit.records_path(), text.replace("\"pid_started\":\"", "\"pid_started\":\"9")).unwrap();
    assert_eq!(read_runs(&audit, |_| true).unwrap()[0].state, AuditRunState::CutShort);
}

#[test]
fn many_writers_make_one_chain() {
    let folder = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| (0..4).for_each(|number| run(&AuditLog::for_runs(folder.path()), number)));
        }
    });
    let audit = AuditLog::for_runs(folder.path());
    assert_eq!((verify_log(&audit).unwrap().records, faults(&audit)), (48, vec![]));
    assert!(read_runs(&audit, |_| true).unwrap().iter().all(|entry| entry.state == AuditRunState::Ended));
}

#[test]
fn what_is_cut_off_stays_missing_after_later_runs() {
    let folder = tempfile::tempdir().unwrap();
    let audit = AuditLog::for_runs(folder.path());
    (0..3).for_each(|number| run(&audit, number));
    let text = fs::read_to_string(audit.records_path()).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    fs::write(audit.records_path(), lines[..4].concat()).unwrap();
    assert_eq!(faults(&audit), ["records 5 to 6 are missing at the end"]);
    run(&audit, 9);
    assert_eq!(faults(&audit), ["line 5: records 5 to 6 are missing"]);
    // Cut in the middle of a line, the next record still stands on a line of its own.
    fs::write(audit.records_path(), &text[..text.len() - 30]).unwrap();
    run(&audit, 10);
    assert!(!faults(&audit).is_empty());
    assert!(fs::read_to_string(audit.records_path()).unwrap().lines().last().unwrap().ends_with("\"}"));
}

#[test]
fn without_its_head_the_record_is_not_believed() {
    let folder = tempfile::tempdir().unwrap();
    let audit = AuditLog::for_runs(folder.path());
    run(&audit, 1);
    fs::remove_file(folder.path().join("audit.head")).unwrap();
    assert_eq!(faults(&audit), ["the head is missing, so records may have been cut off at the end"]);
    run(&audit, 2);
    assert_eq!(faults(&audit), ["line 3: the head was missing here, so earlier records may have been cut off"]);
}

#[test]
fn an_empty_head_is_a_missing_head() {
    let folder = tempfile::tempdir().unwrap();
    let audit = AuditLog::for_runs(folder.path());
    run(&audit, 1);
    // Some file systems leave this behind if the power fails.
    fs::write(folder.path().join("audit.head"), "").unwrap();
    assert_eq!(faults(&audit), ["the head is missing, so records may have been cut off at the end"]);
    run(&audit, 2);
    assert_eq!(faults(&audit), ["line 3: the head was missing here, so earlier records may have been cut off"]);
}

#[test]
fn a_head_that_did_not_reach_the_disk_is_caught_up() {
    let folder = tempfile::tempdir().unwrap();
    let audit = AuditLog::for_runs(folder.path());
    run(&audit, 1);
    let older = fs::read(folder.path().join("audit.head")).unwrap();
    run(&audit, 2);
    fs::write(folder.path().join("audit.head"), older).unwrap();
    assert_eq!((verify_log(&audit).unwrap().records, faults(&audit)), (4, vec![]));
    run(&audit, 3);
    assert_eq!((verify_log(&audit).unwrap().records, faults(&audit)), (6, vec![]));
}

#[test]
fn a_crash_before_the_first_record_leaves_nothing_to_miss() {
    let folder = tempfile::tempdir().unwrap();
    let audit = AuditLog::for_runs(folder.path());
    fs::write(audit.records_path(), "").unwrap();
    assert_eq!((verify_log(&audit).unwrap().records, faults(&audit)), (0, vec![]));
    fs::write(audit.records_path(), "\n").unwrap();
    assert!(!faults(&audit).is_empty());
}

#[test]
fn a_log_that_was_deleted_is_missed() {
    let folder = tempfile::tempdir().unwrap();
    let audit = AuditLog::for_runs(folder.path());
    run(&audit, 1);
    fs::remove_file(audit.records_path()).unwrap();
    assert_eq!(faults(&audit), ["records 1 to 2 are missing at the end"]);
    run(&audit, 2);
    assert_eq!(faults(&audit), ["line 1: records 1 to 2 are missing"]);
}

#[test]
fn a_record_too_large_for_a_line_is_cut_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let audit = AuditLog::for_runs(folder.path());
    let large = RunSubject { policy: json!({ "prompt": "x".repeat(2 << 20) }), ..subject() };
    let running = audit.start_run(&large, "given", "ada", at(1)).unwrap();
    assert_eq!(faults(&audit), Vec::<String>::new());
    let found = read_runs(&audit, |_| true).unwrap();
    assert_eq!((found[0].text_field("run"), found[0].text_field("skill")), (running.id(), "pdf"));
    assert!(found[0].find_field("cut").is_some());
}

#[test]
fn a_field_too_large_for_a_line_is_left_out_and_the_others_stay() {
    let folder = tempfile::tempdir().unwrap();
    let audit = AuditLog::for_runs(folder.path());
    let large = RunSubject { tool: "t".repeat(2 << 20), ..subject() };
    let running = audit.start_run(&large, "given", "ada", at(1)).unwrap();
    let found = read_runs(&audit, |_| true).unwrap();
    let entry = &found[0];
    assert_eq!(
        (entry.text_field("run"), entry.text_field("skill"), entry.text_field("who")),
        (running.id(), "pdf", "ada")
    );
    assert_eq!((entry.text_field("tool"), entry.find_field("policy")), ("", None));
    assert_eq!(faults(&audit), Vec::<String>::new());
}

#[test]
fn a_record_that_just_fits_a_line_is_kept_whole() {
    // Behind what is bounded stand the hash and the end of the line.
    const TEXT_BYTES_MAX: usize = (1 << 20) - 128;
    let hash_bytes = ",\"hash\":\"\"}\n".len() + 64 - "}".len();
    let recorded = |prompt_bytes: usize| {
        let folder = tempfile::tempdir().unwrap();
        let audit = AuditLog::for_runs(folder.path());
        let large = RunSubject { policy: json!({ "prompt": "x".repeat(prompt_bytes) }), ..subject() };
        drop(audit.start_run(&large, "given", "ada", at(1)).unwrap());
        assert_eq!((verify_log(&audit).unwrap().records, faults(&audit)), (1, vec![]));
        let is_cut = read_runs(&audit, |_| true).unwrap()[0].find_field("cut").is_some();
        (usize::try_from(fs::metadata(audit.records_path()).unwrap().len()).unwrap() - hash_bytes, is_cut)
    };
    let (least, _) = recorded(0);
    assert_eq!(recorded(TEXT_BYTES_MAX - least), (TEXT_BYTES_MAX, false));
    assert!(recorded(TEXT_BYTES_MAX - least + 1).1);
}

#[test]
fn an_entry_says_what_was_denied_and_shows_no_ties() {
    let folder = tempfile::tempdir().unwrap();
    let audit = AuditLog::for_runs(folder.path());
    run(&audit, 1);
    audit.record_refusal(&subject(), "UNTRUSTED", "no", "ada", at(5)).unwrap();
    let found = read_runs(&audit, |_| true).unwrap();
    assert_eq!(found[0].denials(), [("read".to_owned(), "secret/key.txt".to_owned())]);
    assert_eq!(found[1].denials(), []);
    assert_eq!((found[0].denials_omitted(), found[1].denials_omitted()), (7, 0));
    let shown = found[0].to_json();
    assert_eq!((&shown["state"], &shown["outcome"], &shown["skill"]), (&json!("ended"), &json!("ok"), &json!("pdf")));
    assert_eq!(
        (&shown["at"], &shown["ended_at"]),
        (&json!("1970-01-01T00:00:01.000Z"), &json!("1970-01-01T00:00:02.000Z"))
    );
    let bare = without_chain_fields(&found[0].start);
    assert_eq!((&bare["skill"], &bare["who"], &bare["consent"]), (&json!("pdf"), &json!("ada"), &json!("given")));
    for tie in ["v", "seq", "prev", "hash", "kind", "pid", "pid_started"] {
        assert!(found[0].start.get(tie).is_some() && bare.get(tie).is_none() && shown.get(tie).is_none(), "{tie}");
    }
}

#[test]
fn installs_and_refusals_are_entries_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let audit = AuditLog::for_runs(folder.path());
    audit.record_install("pdf", &["pypdf".to_owned()], &["pypi.example".to_owned()], "ada", at(1)).unwrap();
    audit.record_refusal(&subject(), "UNTRUSTED", "no", "bob", at(2)).unwrap();
    run(&audit, 3);
    let all = read_runs(&audit, |_| true).unwrap();
    let states: Vec<&str> = all.iter().map(|entry| entry.state.name()).collect();
    assert_eq!(states, ["install", "refused", "ended"]);
    assert_eq!(all[0].find_field("packages"), Some(&json!(["pypdf"])));
    assert_eq!(all[0].find_field("hosts"), Some(&json!(["pypi.example"])));
    assert_eq!((all[1].text_field("who"), all[1].text_field("message")), ("bob", "no"));
    assert_eq!(all[1].started_at(), "1970-01-01T00:00:02.000Z");
    assert_eq!(all[2].find_field("message"), None, "a field that is null says nothing");
    // The field of the end counts where both have one.
    assert_eq!((all[2].text_field("workspace"), all[2].text_field("exit")), ("/work", "code 0"));
    for (who, expected) in [("ada", vec!["install", "ended"]), ("bob", vec!["refused"]), ("eve", vec![])] {
        let some = read_runs(&audit, |entry| entry.text_field("who") == who).unwrap();
        assert_eq!(some.iter().map(|entry| entry.state.name()).collect::<Vec<_>>(), expected, "{who}");
    }
}

#[test]
fn every_record_is_shown_and_other_lines_are_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let audit = AuditLog::for_runs(folder.path());
    run(&audit, 1);
    let text = fs::read_to_string(audit.records_path()).unwrap();
    fs::write(audit.records_path(), format!("no record\n{text}\n{{")).unwrap();
    let mut kinds = Vec::new();
    for_each_record(&audit, |record| kinds.push(record["kind"].as_str().unwrap_or_default().to_owned())).unwrap();
    assert_eq!(kinds, ["start", "end"]);
}

#[test]
fn only_records_that_were_not_read_before_are_new() {
    let folder = tempfile::tempdir().expect("there is a folder");
    let audit = AuditLog::for_runs(folder.path());
    let mut position = RecordPosition::default();
    let mut new = || {
        let mut kinds = Vec::new();
        for_each_new_record(&audit, &mut position, |record| kinds.push(record["kind"].to_string())).unwrap();
        kinds
    };
    assert!(new().is_empty(), "nothing is recorded yet");
    run(&audit, 1);
    assert_eq!((new(), new().len()), (vec!["\"start\"".to_owned(), "\"end\"".to_owned()], 0));
    run(&audit, 3);
    assert_eq!(new().len(), 2);
    // A record that is still being written counts when it is complete.
    let whole = fs::read(audit.records_path()).unwrap();
    fs::write(audit.records_path(), [&whole[..], b"{\"kind\":\"st"].concat()).unwrap();
    assert!(new().is_empty());
    fs::write(audit.records_path(), [&whole[..], b"{\"kind\":\"start\"}\n"].concat()).unwrap();
    assert_eq!(new().len(), 1);
    // A shorter file is another one.
    fs::write(audit.records_path(), b"{\"kind\":\"serve\"}\n").unwrap();
    assert_eq!(new(), ["\"serve\""]);
}

#[test]
fn a_fault_says_what_is_wrong_and_on_which_line() {
    let folder = tempfile::tempdir().unwrap();
    let audit = AuditLog::for_runs(folder.path());
    (0..3).for_each(|number| run(&audit, number));
    let text = fs::read_to_string(audit.records_path()).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let with = |changed: &[&str]| {
        fs::write(audit.records_path(), changed.concat()).unwrap();
        faults(&audit)
    };
    let [one, two, three, four, five, six] = lines[..] else { panic!("six records") };
    assert_eq!(with(&[one, three, four, five, six]), ["line 2: record 2 is missing"]);
    assert_eq!(with(&[one, four, five, six]), ["line 2: records 2 to 3 are missing"]);
    assert_eq!(with(&[two, three, four, five, six]), ["line 1: record 1 is missing"]);
    assert_eq!(with(&[one, two, three, four, five]), ["record 6 is missing at the end"]);
    assert_eq!(
        with(&[one, two, one, three, four, five, six]),
        ["line 3: record 1 appears after record 2", "line 4: record 2 is missing"]
    );
    let (other, _) = signed(&json!({ "v": 1, "seq": 2, "prev": "1".repeat(64) }));
    assert_eq!(
        with(&[one, &other, three, four, five, six]),
        [
            "line 2: record 2 does not follow the previous record",
            "line 3: record 3 does not follow the previous record"
        ]
    );
    let last: serde_json::Value = serde_json::from_str(six).unwrap();
    let (other, _) = signed(&json!({ "v": 1, "seq": 6, "prev": last["prev"] }));
    assert_eq!(with(&[one, two, three, four, five, &other]), ["record 6 is not the last record that was written"]);
    let (newer, _) = signed(&json!({ "v": 2, "seq": 7, "prev": last["hash"] }));
    assert_eq!(with(&[&text, &newer]), ["line 7: invalid or modified record"]);
    assert_eq!(with(&["a\n"; 3]), ["line 1: invalid or modified record", "records 1 to 6 are missing at the end"]);
    assert_eq!(with(&vec![one; 200]).len(), 100, "what is wrong everywhere is not told of every line");
}

#[test]
fn a_head_that_is_damaged_or_newer_is_told_and_not_written_over() {
    let folder = tempfile::tempdir().unwrap();
    let audit = AuditLog::for_runs(folder.path());
    run(&audit, 1);
    let head = folder.path().join("audit.head");
    let text = fs::read_to_string(&head).unwrap();
    for (changed, word) in [
        (text.replace("\"v\":1", "\"v\":2"), "newer"),
        (text.replace("\"v\":1", "\"v\":9"), "newer"),
        (text.replace("\"seq\":2", "\"seq\":\"2\""), "damaged"),
        (text.replace("\"bytes\"", "\"byte\""), "damaged"),
    ] {
        fs::write(&head, &changed).unwrap();
        let found = faults(&audit);
        assert!(found[0].contains(word) && found[1].contains("the head is missing"), "{found:?}");
        let error = audit.start_run(&subject(), "given", "ada", at(2)).unwrap_err();
        assert!(error.to_string().contains(word), "{error}");
        assert_eq!(fs::read_to_string(&head).unwrap(), changed);
    }
    // A head of an earlier version would be read.
    fs::write(&head, text.replace("\"v\":1", "\"v\":0")).unwrap();
    run(&audit, 3);
    assert_eq!((verify_log(&audit).unwrap().records, faults(&audit)), (4, vec![]));
}

/// The line of a record with a hash that fits it, and the hash.
fn signed(record: &serde_json::Value) -> (String, String) {
    let mut text = record.to_string();
    text.pop();
    let hash = hex::encode(Sha256::digest(text.as_bytes()));
    (format!("{text},\"hash\":\"{hash}\"}}\n"), hash)
}

#[test]
fn the_largest_number_there_is_does_not_stop_the_verification() {
    let folder = tempfile::tempdir().unwrap();
    let audit = AuditLog::for_runs(folder.path());
    let (first, hash) = signed(&json!({ "v": 1, "seq": u64::MAX, "prev": "0".repeat(64) }));
    let (second, _) = signed(&json!({ "v": 1, "seq": 1, "prev": hash }));
    fs::write(audit.records_path(), first + &second).unwrap();
    let head = json!({ "v": 1, "seq": u64::MAX, "hash": hash, "bytes": 0 }).to_string();
    fs::write(folder.path().join("audit.head"), head).unwrap();
    assert!(faults(&audit).iter().any(|fault| fault == "line 1: invalid or modified record"));
    assert!(audit.start_run(&subject(), "given", "ada", at(1)).is_err(), "a head like that is not continued");
}

#[test]
fn a_head_of_no_record_with_the_hash_of_one_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let audit = AuditLog::for_runs(folder.path());
    run(&audit, 1);
    let head = |hash: &str| {
        let head = json!({ "v": 1, "seq": 0, "hash": hash, "bytes": 0 }).to_string();
        fs::write(folder.path().join("audit.head"), head).unwrap();
        faults(&audit)
    };
    assert_eq!(head(&"0".repeat(64)), Vec::<String>::new(), "a crash before the first head was written");
    assert_eq!(head(&"1".repeat(64)), ["record 0 is not the last record that was written"]);
}

/// Ways to tamper with a file of records.
#[derive(Clone, Debug)]
enum Tampering {
    Flip {
        at: prop::sample::Index,
        bit: u8,
    },
    Remove {
        line: prop::sample::Index,
    },
    Swap {
        line: prop::sample::Index,
        other: prop::sample::Index,
    },
    Repeat {
        line: prop::sample::Index,
    },
    Truncate {
        at: prop::sample::Index,
    },
    Insert {
        at: prop::sample::Index,
        text: String,
    },
    /// A record is written anew with a hash that fits it, and perhaps all behind it too.
    Forge {
        line: prop::sample::Index,
        is_rest: bool,
    },
}

/// Records from a place on, written anew: the first says something else, each has a hash that fits it.
fn forged(lines: &mut [Vec<u8>], from: usize, is_rest: bool) {
    let mut prev: Option<String> = None;
    for line in &mut lines[from..] {
        let Ok(serde_json::Value::Object(mut record)) = serde_json::from_slice(line) else { return };
        match prev {
            None => drop(record.insert("skill".to_owned(), json!("other"))),
            Some(prev) => drop(record.insert("prev".to_owned(), json!(prev))),
        }
        record.shift_remove("hash");
        let mut text = serde_json::Value::Object(record).to_string();
        text.pop();
        let hash: String = Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
        *line = format!("{text},\"hash\":\"{hash}\"}}\n").into_bytes();
        if !is_rest {
            return;
        }
        prev = Some(hash);
    }
}

fn tampering() -> impl Strategy<Value = Tampering> {
    let index = any::<prop::sample::Index>;
    prop_oneof![
        (index(), 0..8_u8).prop_map(|(at, bit)| Tampering::Flip { at, bit }),
        index().prop_map(|line| Tampering::Remove { line }),
        (index(), index()).prop_map(|(line, other)| Tampering::Swap { line, other }),
        index().prop_map(|line| Tampering::Repeat { line }),
        index().prop_map(|at| Tampering::Truncate { at }),
        (index(), "[a-z{}\"\n]{1,9}").prop_map(|(at, text)| Tampering::Insert { at, text }),
        (index(), any::<bool>()).prop_map(|(line, is_rest)| Tampering::Forge { line, is_rest }),
    ]
}

impl Tampering {
    fn apply(&self, bytes: &[u8]) -> Vec<u8> {
        let mut lines: Vec<Vec<u8>> = bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
        let count = lines.len();
        match self {
            Tampering::Flip { at, bit } => {
                let mut bytes = bytes.to_vec();
                let at = at.index(bytes.len());
                bytes[at] ^= 1 << bit;
                return bytes;
            }
            Tampering::Truncate { at } => return bytes[..at.index(bytes.len())].to_vec(),
            Tampering::Insert { at, text } => {
                // Behind the last record, a piece of a line is what a crash leaves.
                let at = at.index(bytes.len());
                return [&bytes[..at], text.as_bytes(), &bytes[at..]].concat();
            }
            Tampering::Forge { line, is_rest } => forged(&mut lines, line.index(count), *is_rest),
            Tampering::Remove { line } => drop(lines.remove(line.index(count))),
            Tampering::Swap { line, other } => lines.swap(line.index(count), other.index(count)),
            Tampering::Repeat { line } => lines.insert(line.index(count), lines[line.index(count)].clone()),
        }
        lines.concat()
    }
}

#[test]
fn a_line_that_is_no_record_is_found_behind_the_last_one_too() {
    let folder = tempfile::tempdir().unwrap();
    let audit = AuditLog::for_runs(folder.path());
    run(&audit, 1);
    let mut text = fs::read(audit.records_path()).unwrap();
    text.extend_from_slice(b"{\"v\":1,\"seq\":3}\n");
    fs::write(audit.records_path(), text).unwrap();
    assert_eq!(faults(&audit), ["line 3: invalid or modified record"]);
    run(&audit, 2);
    assert_eq!(faults(&audit), ["line 3: invalid or modified record"]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]
    #[test]
    fn tampering_is_found(ways in prop::collection::vec(tampering(), 1..3)) {
        // Made once: what is tried is the tampering, not the writing.
        static WRITTEN: std::sync::OnceLock<(Vec<u8>, Vec<u8>)> = std::sync::OnceLock::new();
        let (log, head) = WRITTEN.get_or_init(|| {
            let folder = tempfile::tempdir().unwrap();
            let audit = AuditLog::for_runs(folder.path());
            (0..4).for_each(|number| run(&audit, number));
            (fs::read(audit.records_path()).unwrap(), fs::read(folder.path().join("audit.head")).unwrap())
        });
        let mut changed = log.clone();
        for way in &ways {
            if !changed.is_empty() {
                changed = way.apply(&changed);
            }
        }
        prop_assume!(changed != *log);
        // The beginning of a line behind a whole log is what a crash leaves, whoever wrote it.
        let tail = changed.strip_prefix(log.as_slice());
        prop_assume!(tail.is_none_or(|tail| tail.contains(&b'\n')));
        let folder = tempfile::tempdir().unwrap();
        let audit = AuditLog::for_runs(folder.path());
        fs::write(audit.records_path(), &changed).unwrap();
        let file = folder.path().join("audit.head");
        fs::write(&file, head).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        prop_assert!(!faults(&audit).is_empty(), "{:?}", ways);
        // It is found later too, whatever is written after it.
        run(&audit, 99);
        prop_assert!(!faults(&audit).is_empty(), "later: {:?}", ways);
    }

    #[test]
    fn a_crash_at_any_byte_is_mended_and_told(torn in any::<prop::sample::Index>(), is_head_late in any::<bool>()) {
        let folder = tempfile::tempdir().unwrap();
        let audit = AuditLog::for_runs(folder.path());
        run(&audit, 1);
        let (whole, head) = (fs::read(audit.records_path()).unwrap(), fs::read(folder.path().join("audit.head")).unwrap());
        let _running = audit.start_run(&subject(), "given", "ada", at(3)).unwrap();
        let longer = fs::read(audit.records_path()).unwrap();
        let written = if is_head_late { longer.len() } else { whole.len() + torn.index(longer.len() - whole.len()) };
        // The power went after this many bytes, before the head was written.
        fs::write(audit.records_path(), &longer[..written]).unwrap();
        fs::write(folder.path().join("audit.head"), head).unwrap();
        prop_assert_eq!(faults(&audit), Vec::<String>::new());
        run(&audit, 5);
        let verdict = verify_log(&audit).unwrap();
        prop_assert_eq!(verdict.faults, Vec::<String>::new());
        // A record that lacks nothing but the end of its line is whole.
        let is_torn = written > whole.len() && written < longer.len() - 1;
        prop_assert_eq!(verdict.notes.len(), usize::from(is_torn));
        prop_assert_eq!(verdict.records, if written > whole.len() { 5 } else { 4 });
    }
}
