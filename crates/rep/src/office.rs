//! What the page of the server asks besides skills: findings, permissions, what ran and what goes on. Answered by the same
//! code as `rep check`, `rep policy`, `rep audit`, `rep tasks` and `rep pack`.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rep_audit::{Audit, Entry, records};
use rep_check::{Finding, Level, Options, check};
use rep_library::{CatalogEntry, read};
use rep_model::Skill;
use rep_package::files;
use rep_runtime::access::{Asked, Ground};
use rep_runtime::plan::declared;
use rep_runtime::task::{self, State, Tasks};
use rep_serve::{CallTrail, Noted, Office, Ran, Task, Trail, Wanted};
use serde_json::Value;

use crate::call::Called;
use crate::commands::{audit, policy, why};
use crate::exit::Failure;
use crate::library::data_folder;

/// How many files of a workspace are looked at, and how many are named.
const FILES_MAX: usize = 5000;
const FILES_NAMED: usize = 5;

/// Answers for the page, from the records of this user.
pub(crate) struct Clerk {
    /// The folder patterns are relative to.
    pub(crate) workspace: Option<PathBuf>,
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
        let workspace = self.workspace.as_ref().ok_or("there is no workspace")?;
        let words = || {
            let called = Called::of(entry)?;
            let (permissions, _) = declared::permissions(called.front());
            let text = policy::words(&called, &permissions, workspace)?;
            let ground = Ground { permissions: &permissions, workspace, folder: &called.folder };
            Ok((text, here(&ground)))
        };
        let (text, here) = words().map_err(|failure: Failure| failure.message)?;
        // The first line is the skill's own name; what follows is about all of it until a tool is named.
        let lines: Vec<String> = text.lines().skip(1).map(str::to_owned).collect();
        let about_all = lines.iter().take_while(|line| line.starts_with("  ")).count();
        let (all, tools) = lines.split_at(about_all);
        Ok(all.iter().chain(&here).chain(tools).cloned().collect())
    }

    fn runs(&self, wanted: &Wanted) -> Result<Trail, String> {
        let look = || audit::runs(&Audit::at(&data_folder()?), wanted.skill.as_deref(), wanted.since.as_deref());
        let found = look().map_err(|failure: Failure| failure.message)?;
        let state = wanted.state.as_deref();
        let fits = |run: &&Entry| {
            state.is_none_or(|state| run.state.name() == state) && (!wanted.has_denials || !denials(run).is_empty())
        };
        let found: Vec<&Entry> = found.iter().filter(fits).collect();
        let runs = found.iter().rev().take(wanted.most).map(|run| ran(run)).collect();
        Ok(Trail { runs, total: found.len() })
    }

    fn calls(&self, wanted: &Wanted) -> Result<CallTrail, String> {
        let look = || -> Result<CallTrail, Failure> {
            let filter = audit::Filter::new(wanted.skill.as_deref(), wanted.since.as_deref())?;
            let (mut newest, mut total) = (VecDeque::new(), 0);
            records(&Audit::of_calls(&data_folder()?), |record| {
                if !audit::is_call(&record, &filter) {
                    return;
                }
                total += 1;
                newest.push_front(record);
                newest.truncate(wanted.most);
            })?;
            Ok(CallTrail { calls: newest.into(), total })
        };
        look().map_err(|failure| failure.message)
    }

    fn tasks(&self) -> Result<Vec<Task>, String> {
        let look = || -> Result<Vec<task::Task>, Failure> {
            let folder = data_folder()?;
            // Whoever only looks leaves nothing behind.
            if !folder.join("tasks.db").exists() {
                return Ok(Vec::new());
            }
            Ok(Tasks::open(&folder)?.list(SystemTime::now())?)
        };
        let tasks = look().map_err(|failure| failure.message)?;
        Ok(tasks.into_iter().rev().map(told).collect())
    }

    fn cancel(&self, id: &str) -> Result<Option<bool>, String> {
        let ask = || -> Result<Option<task::Task>, Failure> {
            Ok(Tasks::open(&data_folder()?)?.cancel(id, SystemTime::now())?)
        };
        let task = ask().map_err(|failure| failure.message)?;
        Ok(task.map(|task| task.state == State::Running))
    }

    fn packed(&self, entry: &CatalogEntry) -> Result<Vec<u8>, String> {
        let held = files::read(&entry.folder).map_err(|error| error.to_string())?;
        rep_archive::write_tar_gz(&files::packed(&held, &entry.name)).map_err(|error| error.to_string())
    }

    fn pulse(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        if let Ok(folder) = data_folder() {
            let audit = Audit::at(&folder).file();
            for file in [audit, folder.join("tasks.db"), folder.join("tasks.db-wal")] {
                let seen = std::fs::metadata(file).ok();
                seen.map(|seen| (seen.len(), seen.modified().ok())).hash(&mut hasher);
            }
        }
        hasher.finish()
    }
}

/// Which files of the workspace that is about now, a line each for reading and writing.
fn here(ground: &Ground<'_>) -> Vec<String> {
    let globs = [
        ("read", ground.permissions.read.is_empty(), Asked::Read as fn(String) -> Asked),
        ("change", ground.permissions.write.is_empty(), Asked::Write),
    ];
    if globs.iter().all(|(_, is_empty, _)| *is_empty) {
        return Vec::new();
    }
    let (mut files, is_all) = below(ground.workspace);
    // Its own files are told above.
    files.retain(|file| !ground.workspace.join(file).starts_with(ground.folder));
    let rest = if is_all { "" } else { ", as far as was looked" };
    let mut lines = Vec::new();
    for (verb, is_empty, ask) in globs {
        if is_empty {
            continue;
        }
        let fits: Vec<&String> = files.iter().filter(|file| ground.answer(&ask((*file).clone())).is_allowed).collect();
        let names: Vec<String> = fits.iter().take(FILES_NAMED).map(|file| format!("`{file}`")).collect();
        let more = if fits.len() > FILES_NAMED { ", …" } else { "" };
        lines.push(match fits.len() {
            0 => format!("  of the files that are there now{rest}, it may {verb} none"),
            count => {
                format!("  of the files that are there now{rest}, it may {verb} {count}: {}{more}", names.join(", "))
            }
        });
    }
    lines
}

/// The files below a folder, relative to it, up to a number; and whether these are all. Links are not followed.
fn below(workspace: &Path) -> (Vec<String>, bool) {
    let mut folders = VecDeque::from([workspace.to_owned()]);
    let (mut files, mut seen) = (Vec::new(), 0);
    while let Some(folder) = folders.pop_front() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            seen += 1;
            if seen > FILES_MAX {
                files.sort();
                return (files, false);
            }
            let Ok(kind) = entry.file_type() else { continue };
            let path = entry.path();
            match path.strip_prefix(workspace) {
                Ok(_) if kind.is_dir() && entry.file_name() != ".git" => folders.push_back(path),
                Ok(own) if kind.is_file() => files.push(own.to_string_lossy().into_owned()),
                _ => {}
            }
        }
    }
    files.sort();
    (files, true)
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

fn denials(run: &Entry) -> Vec<(String, String)> {
    let all = run.field("denials").and_then(Value::as_array).into_iter().flatten();
    let part = |denial: &Value, name: &str| denial.get(name).and_then(Value::as_str).unwrap_or("?").to_owned();
    all.map(|denial| (part(denial, "action"), part(denial, "target"))).collect()
}

fn ran(run: &Entry) -> Ran {
    Ran {
        state: run.state.name(),
        outcome: run.text("outcome").to_owned(),
        at: run.at().to_owned(),
        skill: run.text("skill").to_owned(),
        tool: run.text("tool").to_owned(),
        who: run.text("who").to_owned(),
        duration_ms: run.field("duration_ms").and_then(Value::as_u64),
        denials: denials(run),
        record: audit::document(run),
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
