//! The tests a skill ships, which need no model: what they are, how each is run, and whether what came of it is right.
//!
//! Three dialects say what to try: `tests/cases/*.yaml` (UAAPS), `evaluation.smoke_tests` (Universal 2.1), and
//! `evals/evals.json` (agentskills), which an agent of the user's answers. Everything in this file is values in, values
//! out: a [`SkillTree`] becomes [`Trials`], a trial becomes a [`Plan`], an [`Outcome`] becomes a [`Judged`]. Of its
//! modules, [`selection`] finds the skills, [`run`] runs their tests, [`eval_run`] their evals.

use std::collections::BTreeSet;
use std::path::Path;

use rep_model::{Content, Entry, Frontmatter, Leads, SkillTree};
use serde_json::Value;

use crate::outcome::{Outcome, Reply, ToolError, Verdict};
use crate::plan::{
    Command, Limits, Permissions, Plan, PlanError, Program, Redaction, Risk, StartFolder, Work, declared,
};
use rep_sandbox::Killed;

pub mod agent;
pub mod case;
pub mod config;
pub mod eval_run;
pub mod evals;
pub mod expect;
pub mod grade;
pub mod junit;
pub mod report;
pub mod run;
pub mod selection;
pub mod smoke;

use case::{Case, CaseFile};
use config::Config;
use evals::Evals;
use expect::{Mismatch, Said};
use smoke::Smoke;

/// Where the settings of a skill's tests are.
pub const CONFIG: &str = "tests/test-config.json";
/// Where its cases are.
pub const CASES: &str = "tests/cases/";
/// Where its evals are.
pub const EVALS: &str = "evals/evals.json";
/// What the cases of smoke tests are called by.
pub const SMOKE: &str = "smoke:";

/// What is wrong with how a test is written: where, what, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// The file, relative to the skill.
    pub file: String,
    /// The line, from one on; none where it is about the whole file.
    pub line: Option<usize>,
    /// One lower-case phrase.
    pub message: String,
    /// What to do.
    pub remedy: String,
}

impl Mistake {
    /// A mistake about a whole file.
    pub fn new(file: &str, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line: None, message: message.into(), remedy: remedy.into() }
    }
}

/// Everything a skill ships to be tried with.
#[derive(Debug, Default)]
pub struct Trials {
    /// The trials, cases first, in the order of their files; then smoke tests as they are listed.
    pub trials: Vec<Trial>,
    /// The settings of the cases.
    pub config: Config,
    /// Why the settings cannot be used. No case is run then.
    pub broken: Vec<Mistake>,
    /// What needs a model, and is not run here.
    pub evals: Option<Evals>,
    /// What was passed over or looks odd, in words.
    pub notes: Vec<String>,
}

/// One test.
#[derive(Debug)]
pub struct Trial {
    /// The stem of its file, or `smoke:` and a name or number.
    pub case: String,
    /// What it calls itself; the same as `case` where it does not say.
    pub name: String,
    /// What is tried, or what is wrong with how it is written.
    pub work: Result<Attempt, Vec<Mistake>>,
}

/// What a test does.
#[derive(Debug)]
pub enum Attempt {
    /// Runs a shell command.
    Case(Case),
    /// Calls a tool.
    Smoke(Smoke),
}

impl Trials {
    /// Reads what a skill ships. Never fails: what is written wrongly is in it.
    pub fn of(tree: &SkillTree, front: Option<&Frontmatter>) -> Self {
        let mut trials = Self::default();
        trials.take_cases(tree);
        match (tree.entries.contains_key(CONFIG), trials.trials.is_empty()) {
            (true, _) => match text(tree, CONFIG).and_then(|text| config::read(&text)) {
                Ok((config, notes)) => {
                    trials.config = config;
                    trials.notes.extend(notes);
                }
                Err(mistakes) => trials.broken = mistakes,
            },
            (false, false) => {
                let remedy = "write `{\"version\": 1}` there";
                trials.broken = vec![Mistake::new(CONFIG, "is missing, and there are cases", remedy)];
            }
            (false, true) => {}
        }
        trials.trials.extend(front.map(smoke::read).unwrap_or_default());
        if tree.entries.contains_key(EVALS) {
            match text(tree, EVALS).and_then(|text| evals::read(&text, tree)) {
                Ok(evals) => trials.evals = Some(evals),
                Err(mistakes) => trials.notes.extend(mistakes.iter().map(ToString::to_string)),
            }
        }
        trials
    }

    fn take_cases(&mut self, tree: &SkillTree) {
        for (path, entry) in tree.entries.range(CASES.to_owned()..) {
            let Some(name) = path.strip_prefix(CASES) else { break };
            let is_here = !name.contains('/') && !name.starts_with('.') && *entry != Entry::Directory;
            match name.strip_suffix(".yaml").filter(|_| is_here) {
                Some(stem) => {
                    let read = text(tree, path).map(|text| case::read(&text, path, tree));
                    let read = read.unwrap_or_else(|mistakes| CaseFile { mistakes, ..CaseFile::default() });
                    let name = read.name.unwrap_or_else(|| stem.to_owned());
                    let work = read.case.map(Attempt::Case).ok_or(read.mistakes);
                    self.trials.push(Trial { case: stem.to_owned(), name, work });
                    self.notes.extend(read.notes);
                }
                None if is_here && Path::new(name).extension().is_some_and(|ending| ending == "yml") => {
                    self.notes.push(format!("`{path}` is not run: the files of cases end in `.yaml`"));
                }
                None => {}
            }
        }
        // By stem: `a-b.yaml` comes before `a.yaml` as a path.
        self.trials.sort_by(|one, two| one.case.cmp(&two.case));
    }
}

impl std::fmt::Display for Mistake {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            Some(line) => write!(formatter, "{}:{line}: {}", self.file, self.message),
            None => write!(formatter, "{}: {}", self.file, self.message),
        }
    }
}

/// The text of a file of the skill, or why there is none.
fn text(tree: &SkillTree, path: &str) -> Result<String, Vec<Mistake>> {
    let fail = |message: String, remedy: &str| Err(vec![Mistake::new(path, message, remedy)]);
    let content = match tree.entries.get(path) {
        Some(Entry::File { content, .. }) => content,
        Some(Entry::Link { leads: Leads::Inside(real), .. }) if !tree.escapes(real) => match tree.entries.get(real) {
            Some(Entry::File { content, .. }) => content,
            _ => return fail(format!("is a link to `{real}`, which is no file"), "link to a file of the skill"),
        },
        Some(Entry::Link { .. }) => {
            return fail("is a link that leads out of the skill, or nowhere".to_owned(), "put the file itself there");
        }
        Some(Entry::Directory) => return fail("is a folder".to_owned(), "put a file there"),
        Some(Entry::Other(kind)) => return fail(format!("is a {kind}"), "put a file there"),
        None => return fail("is missing".to_owned(), "write it"),
    };
    match content {
        Content::Bytes(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => Ok(text.strip_prefix('\u{feff}').unwrap_or(text).to_owned()),
            Err(_) => fail("is not UTF-8".to_owned(), "save it as UTF-8"),
        },
        Content::Unreadable(reason) => fail(format!("cannot be read: {reason}"), "make it readable"),
        Content::NotRead | Content::TooLarge(_) => {
            fail("is too large to be read".to_owned(), "keep it below 1 MiB, and large input in a fixture")
        }
    }
}

/// The skill a trial is run for.
pub struct Ground<'a> {
    /// Its qualified name.
    pub skill: &'a str,
    /// The digest of its folder.
    pub digest: &'a str,
    /// A copy of its folder, made for this trial alone. Absolute.
    pub folder: &'a Path,
    /// What it declares.
    pub front: Option<&'a Frontmatter>,
}

/// The plan of a case: its command in a shell, in a copy of the skill that it may change. Of what the skill declares, hosts
/// and secrets count; its files are all there, and nobody else's are.
pub fn plan(ground: &Ground<'_>, case: &Case, stem: &str, config: &Config) -> Result<Plan, PlanError> {
    let (declared, ignored) = ground.front.map(declared::permissions).unwrap_or_default();
    let mut confirm = ground.front.map_or_else(BTreeSet::new, |front| declared::safety(front).confirm);
    confirm.insert(Risk::Program);
    let mut limits = Limits { timeout_ms: config.timeout_ms, ..Limits::default() };
    limits.cpu_s = limits.cpu_s.max(config.timeout_ms.div_ceil(1000));
    Ok(Plan {
        confinement: crate::plan::Confinement::Sandboxed,
        skill: ground.skill.to_owned(),
        digest: ground.digest.to_owned(),
        folder: ground.folder.to_owned(),
        tool: format!("test:{stem}"),
        work: Work::Command(Command {
            program: Program::Named("sh".to_owned()),
            arguments: vec!["-c".to_owned(), case.command.clone()],
            stdin: case.stdin.clone().into_bytes(),
            variables: config.variables.clone(),
            start: StartFolder::OwnCopy,
            files: None,
        }),
        workspace: ground.folder.to_owned(),
        input: Value::Object(serde_json::Map::new()),
        permissions: Permissions { outbound: declared.outbound, allow_subprocess: true, ..Permissions::default() },
        confirm,
        prompt: None,
        // What is compared is what was written; the data is the skill's own, and no user's.
        redaction: Redaction { secrets: true, pii: false },
        secrets: ground.front.map_or_else(|| Ok(Vec::new()), declared::secrets)?,
        limits,
        ignored,
    })
}

/// What came of a trial.
#[derive(Debug)]
pub enum Judged {
    /// It is as expected.
    Pass,
    /// It is not.
    Fail(Vec<Mismatch>),
    /// It could not be tried.
    Error(ToolError),
    /// Somebody asked for the end.
    Interrupted,
}

/// Judges what a case came to, and gives what it said.
pub fn judge(case: &Case, outcome: &Outcome) -> (Judged, Said) {
    let said = Said::of(outcome);
    if outcome.verdict == Verdict::Interrupted {
        return (Judged::Interrupted, said);
    }
    if let Some(mismatch) = ended(outcome) {
        return (Judged::Fail(vec![mismatch]), said);
    }
    match &outcome.reply {
        Reply::Error(error) if error.code != crate::error::ErrorCode::CommandFailed => {
            return (Judged::Error(error.clone()), said);
        }
        Reply::Error(_) | Reply::Result(_) | Reply::Task(_) => {}
    }
    let mismatches = case.expected.judge(&said);
    (if mismatches.is_empty() { Judged::Pass } else { Judged::Fail(mismatches) }, said)
}

/// Judges what a smoke test came to.
pub fn judge_smoke(smoke: &Smoke, outcome: &Outcome) -> (Judged, Said) {
    let said = Said { stderr: outcome.said.clone(), ..Said::default() };
    if outcome.verdict == Verdict::Interrupted {
        return (Judged::Interrupted, said);
    }
    let is_expected = |error: &ToolError| {
        let wanted = smoke.expect.as_ref().and_then(|expect| expect.pointer("/error/code")).and_then(Value::as_str);
        wanted == Some(error.code.as_str())
    };
    match &outcome.reply {
        // A call that was refused is an answer only where it was expected: to arguments that do not fit, say.
        Reply::Error(error) if !outcome.is_executed && !is_expected(error) => (Judged::Error(error.clone()), said),
        _ => {
            let mismatches = smoke.judge(outcome);
            (if mismatches.is_empty() { Judged::Pass } else { Judged::Fail(mismatches) }, said)
        }
    }
}

/// A run that was ended by the runtime, which no expectation can be about.
fn ended(outcome: &Outcome) -> Option<Mismatch> {
    let Reply::Error(error) = &outcome.reply else { return None };
    let message = match outcome.killed? {
        Killed::Timeout => "it was ended because its time was over",
        Killed::Output => "it was ended because it wrote too much",
        Killed::Memory => "it was ended because it used too much memory",
        Killed::Cancelled => return None,
    };
    let what = match outcome.killed {
        Some(Killed::Timeout) => "timeout",
        _ => "limit",
    };
    Some(Mismatch::new(what, format!("{message}: {}", error.message)))
}

#[cfg(test)]
mod tests;
