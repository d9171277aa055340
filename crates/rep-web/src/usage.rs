//! Who used which skill and when, from the records of runs and calls.
//!
//! The records are read once, and afterwards only what was appended. Of records that are already large when the server
//! starts, only the newest part is read.

use std::collections::{BTreeMap, VecDeque};

use parking_lot::Mutex;
use rep_mcp::ClaimedClient;
use rep_runtime::{RecordKind, RecordPosition, Runtime};
use serde_json::Value;

/// The number of uses that are remembered for each skill, and the number of skills.
const USES_MAX: usize = 8;
const SKILLS_MAX: usize = 20_000;

/// The uses of all skills.
#[derive(Default)]
pub(super) struct UsageIndex(Mutex<UsageState>);

#[derive(Default)]
struct UsageState {
    runs: RecordPosition,
    calls: RecordPosition,
    skills: BTreeMap<String, SkillUsage>,
}

/// The uses of a skill.
#[derive(Clone, Debug, Default)]
pub(super) struct SkillUsage {
    /// The number of known uses.
    pub(super) count: usize,
    /// The newest uses, oldest first.
    pub(super) recent: VecDeque<SkillUse>,
}

impl SkillUsage {
    /// Returns when the skill was last used, as text that sorts chronologically.
    pub(super) fn last_used(&self) -> &str {
        self.recent.back().map_or("", |used| used.at.as_str())
    }

    fn add(&mut self, used: SkillUse) {
        self.count += 1;
        // Runs and calls are read from two files.
        let place = self.recent.iter().rposition(|other| other.at <= used.at).map_or(0, |place| place + 1);
        self.recent.insert(place, used);
        if self.recent.len() > USES_MAX {
            self.recent.pop_front();
        }
    }
}

/// A use of a skill.
#[derive(Clone, Debug)]
pub(super) struct SkillUse {
    pub(super) at: String,
    /// The run tool, or the method and target of a call.
    pub(super) what: String,
    pub(super) who: ClaimedClient,
    pub(super) outcome: String,
}

impl UsageIndex {
    /// Reads what was recorded since the last time, and returns the result of `access`.
    pub(super) fn with_usage<T>(
        &self,
        runtime: &Runtime,
        access: impl FnOnce(&BTreeMap<String, SkillUsage>) -> T,
    ) -> T {
        let mut state = self.0.lock();
        let UsageState { runs, calls, skills } = &mut *state;
        let mut add = |skill: &str, used: SkillUse| {
            if skills.len() < SKILLS_MAX || skills.contains_key(skill) {
                skills.entry(skill.to_owned()).or_default().add(used);
            }
        };
        // Records that cannot be read are reported on the audit page.
        let _ = runtime.for_each_new_record(RecordKind::Runs, runs, |record| {
            if let Some((skill, used)) = parse_run(&record) {
                add(skill, used);
            }
        });
        let _ = runtime.for_each_new_record(RecordKind::Calls, calls, |record| {
            if let Some((skill, used)) = parse_call(&record) {
                add(skill, used);
            }
        });
        access(skills)
    }

    /// Returns the uses of a skill.
    pub(super) fn find_usage(&self, runtime: &Runtime, skill: &str) -> SkillUsage {
        self.with_usage(runtime, |skills| skills.get(skill).cloned().unwrap_or_default())
    }
}

fn text_field<'a>(record: &'a Value, field: &str) -> &'a str {
    record.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// Reads the start or refusal of a run.
fn parse_run(record: &Value) -> Option<(&str, SkillUse)> {
    let outcome = match text_field(record, "kind") {
        "start" => "started",
        "refused" => "refused",
        _ => return None,
    };
    let used = SkillUse {
        at: text_field(record, "at").to_owned(),
        what: format!("run {}", text_field(record, "tool")),
        who: ClaimedClient::parse_run_record(text_field(record, "who")),
        outcome: outcome.to_owned(),
    };
    Some((text_field(record, "skill"), used)).filter(|(skill, _)| !skill.is_empty())
}

/// Reads a call of a client. A call of a skill's tool is also a run, and counts as that.
fn parse_call(record: &Value) -> Option<(&str, SkillUse)> {
    let (method, target, skill) =
        (text_field(record, "method"), text_field(record, "target"), text_field(record, "skill"));
    let is_run = method == "page/run" || method == "tools/call" && !target.contains(' ');
    if text_field(record, "kind") != "call" || skill.is_empty() || is_run {
        return None;
    }
    let bearer = Some(text_field(record, "bearer")).filter(|bearer| !bearer.is_empty());
    let used = SkillUse {
        at: text_field(record, "at").to_owned(),
        what: if method == "tools/call" { target.to_owned() } else { format!("{method} {target}") },
        who: ClaimedClient {
            user: None,
            bearer: bearer.map(str::to_owned),
            client: Some(text_field(record, "who").to_owned()),
        },
        outcome: text_field(record, "outcome").to_owned(),
    };
    Some((skill, used))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_use_is_a_run_or_a_call_that_names_the_skill() {
        let run = json!({ "kind": "start", "skill": "pdf", "tool": "fill", "at": "2026-01-02", "who": "uid 0" });
        let (skill, used) = parse_run(&run).unwrap();
        assert_eq!((skill, used.what.as_str(), used.who.user.as_deref()), ("pdf", "run fill", Some("uid 0")));
        assert!(parse_run(&json!({ "kind": "end", "skill": "pdf" })).is_none());
        let call = |target: &str| json!({ "kind": "call", "method": "tools/call", "target": target, "skill": "pdf", "who": "bench 1", "at": "2026-01-01" });
        assert_eq!(parse_call(&call("load_skill pdf")).unwrap().1.what, "load_skill pdf");
        assert!(parse_call(&call("pdf__fill")).is_none());
    }

    #[test]
    fn the_newest_uses_are_remembered_in_order() {
        let mut usage = SkillUsage::default();
        for at in [5, 1, 9, 3, 7, 2, 8, 4, 6, 0] {
            let who = ClaimedClient::default();
            usage.add(SkillUse { at: at.to_string(), what: String::new(), who, outcome: String::new() });
        }
        assert_eq!((usage.count, usage.last_used()), (10, "9"));
        let all: Vec<&str> = usage.recent.iter().map(|used| used.at.as_str()).collect();
        assert!(all.is_sorted() && all.len() == USES_MAX, "{all:?}");
    }
}
