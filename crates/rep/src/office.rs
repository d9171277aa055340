//! What the page of the server asks besides skills: findings, permissions, what ran and what goes on. Answered by the same
//! code as `rep check`, `rep policy`, `rep audit`, `rep tasks` and `rep pack`.

use rep_audit::Entry;
use rep_check::{Finding, Level, Options, check};
use rep_library::{CatalogEntry, read};
use rep_model::Skill;
use rep_package::files;
use rep_runtime::task::{self, State};
use rep_runtime::{CallError, ExecutableSkill, PolicyLine, RecordFilter, Runtime};
use rep_serve::{CallTrail, Noted, Office, Ran, Task, Trail, Wanted};

use crate::commands::why;

/// Answers for the page, from the records of this user.
pub(crate) struct Clerk {
    pub(crate) runtime: Runtime,
}

impl Office for Clerk {
    fn remedy(&self, entry: &CatalogEntry) -> Option<String> {
        why::remedy(entry, None)
    }

    fn findings(&self, entry: &CatalogEntry) -> Result<Vec<Noted>, String> {
        let shown = entry.folder.to_string_lossy();
        let tree = if entry.skill.tree.is_lone_file {
            read::lone_file(&entry.location, &entry.location.to_string_lossy())
        } else {
            read::folder(&entry.folder, &shown, read::Extent::Folder).map_err(|error| error.to_string())?
        };
        let (skill, faults) = Skill::parse(tree);
        let mut findings = check(&skill, faults, &Options::default()).findings;
        // The worst first, and each kind by place.
        findings.sort_by_key(|finding| match finding.level {
            Level::Error => 0,
            Level::Warning => 1,
            Level::Info => 2,
        });
        Ok(findings.iter().map(noted).collect())
    }

    fn permissions(&self, entry: &CatalogEntry) -> Result<Vec<String>, String> {
        let words = || -> Result<Vec<PolicyLine>, CallError> {
            let skill = ExecutableSkill::inspect(entry)?;
            let here = self.runtime.matching_files(&skill)?;
            Ok(self.runtime.policy_of(&skill, None)?.lines(&here))
        };
        let lines = words().map_err(|error| error.message)?;
        let line = |line: PolicyLine| match line {
            PolicyLine::Heading(text) => text,
            PolicyLine::Detail(text) => format!("  {text}"),
        };
        // The first line is the skill's own name.
        Ok(lines.into_iter().skip(1).map(line).collect())
    }

    fn runs(&self, wanted: &Wanted) -> Result<Trail, String> {
        let look = || {
            let filter = RecordFilter::new(wanted.skill.as_deref(), wanted.since.as_deref())?;
            let (state, has_denials, limit) = (wanted.state.clone(), wanted.has_denials, Some(wanted.most));
            self.runtime.runs(&RecordFilter { state, has_denials, limit, ..filter })
        };
        let found = look().map_err(|error: CallError| error.message)?;
        Ok(Trail { runs: found.runs.iter().rev().map(ran).collect(), total: found.total })
    }

    fn calls(&self, wanted: &Wanted) -> Result<CallTrail, String> {
        let look = || {
            let filter = RecordFilter::new(wanted.skill.as_deref(), wanted.since.as_deref())?;
            self.runtime.calls(&RecordFilter { limit: Some(wanted.most), ..filter })
        };
        let mut found = look().map_err(|error: CallError| error.message)?;
        found.calls.reverse();
        Ok(CallTrail { calls: found.calls, total: found.total })
    }

    fn tasks(&self) -> Result<Vec<Task>, String> {
        let tasks = self.runtime.tasks().map_err(|error| error.message)?;
        Ok(tasks.into_iter().rev().map(told).collect())
    }

    fn cancel(&self, id: &str) -> Result<Option<bool>, String> {
        let task = self.runtime.cancel_task(id).map_err(|error| error.message)?;
        Ok(task.map(|task| task.state == State::Running))
    }

    fn packed(&self, entry: &CatalogEntry) -> Result<Vec<u8>, String> {
        let held = files::read(&entry.folder).map_err(|error| error.to_string())?;
        rep_archive::write_tar_gz(&files::packed(&held, &entry.name)).map_err(|error| error.to_string())
    }

    fn pulse(&self) -> u64 {
        self.runtime.activity_fingerprint()
    }
}

fn noted(finding: &Finding) -> Noted {
    Noted {
        level: finding.level.name(),
        rule: finding.rule.name,
        message: finding.message.clone(),
        help: finding.help.clone(),
        file: finding.place.file.clone(),
        line: finding.place.start.line,
        excerpt: finding.place.excerpt.clone(),
        is_mendable: finding.edit.is_some(),
    }
}

fn ran(run: &Entry) -> Ran {
    Ran {
        state: run.state.name(),
        outcome: run.text("outcome").to_owned(),
        at: run.at().to_owned(),
        skill: run.text("skill").to_owned(),
        tool: run.text("tool").to_owned(),
        who: run.text("who").to_owned(),
        duration_ms: run.field("duration_ms").and_then(serde_json::Value::as_u64),
        denials: run.denials(),
        record: run.to_json(),
    }
}

fn told(task: task::Task) -> Task {
    Task {
        state: task.state.name(),
        is_running: task.state == State::Running,
        is_cancel_wanted: task.is_cancel_wanted,
        id: task.id,
        skill: task.skill,
        tool: task.tool,
        created: task.created,
        updated: task.updated,
        result: task.result,
    }
}
