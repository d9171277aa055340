//! How often each rule fires on the real skills of the shared corpus: a reviewed table, so that a change of a rule
//! shows in review. The corpus lies beside the repository; where it is absent this says so and passes.
//!
//! `REP_BLESS=1 cargo test -p rep --test it corpus` rewrites the table.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rep_test_support::ScratchFolder;

use super::{json, run};

const TABLE: &str = "tests/corpus-counts.txt";

fn counts(corpus: &Path, more: &[&str]) -> String {
    let scratch = ScratchFolder::new();
    let mut arguments = vec!["check", corpus.to_str().expect("the corpus has a plain path"), "--format", "json"];
    arguments.extend(more);
    let found = run(&scratch, &arguments);
    assert!(found.code == 0 || found.code == 1, "{}", found.stderr);
    let report = json(&found);
    let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
    for finding in report["findings"].as_array().expect("a report has findings") {
        let word = |field: &str| finding[field].as_str().unwrap_or_default().to_owned();
        *counts.entry((word("rule"), word("level"))).or_default() += 1;
    }
    let mut out = format!("{} skills\n", report["summary"]["skills"]);
    for ((rule, level), count) in counts {
        out.push_str(&format!("{count:6} {level:8} {rule}\n"));
    }
    out
}

#[test]
fn the_count_per_rule_is_the_reviewed_one() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let corpus = root.join("../../../shared/corpus/skills");
    if !corpus.is_dir() {
        rep_test_support::report_skipped("../shared/corpus is not here, so no rule was counted");
        return;
    }
    let mut table = String::new();
    for profile in ["", "agentskills", "portable", "claude-api", "claude-code", "codex", "security"] {
        let more: Vec<&str> = if profile.is_empty() { Vec::new() } else { vec!["--profile", profile] };
        let title = if profile.is_empty() { "no profile named" } else { profile };
        table.push_str(&format!("== {title}: {}\n", counts(&corpus, &more)));
    }
    let path = root.join(TABLE);
    if std::env::var_os("REP_BLESS").is_some() {
        std::fs::write(&path, &table).expect("the table can be written");
    }
    let reviewed = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(table, reviewed, "the counts changed; look at what changed, then bless the table");
}
