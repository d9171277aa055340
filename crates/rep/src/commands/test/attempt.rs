//! One trial: a fresh copy, a plan, a grant, a run, and what it came to.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rep_library::store::Copy;
use rep_runtime::plan::HostRule;
use rep_runtime::secret::Secret;
use rep_runtime::trial::case::Case;
use rep_runtime::trial::expect::Said;
use rep_runtime::trial::smoke::Smoke;
use rep_runtime::trial::{self, Attempt, Ground, Judged};
use rep_runtime::{Call, Outcome, Plan, PlanError, Reply, ToolRuntime, ToolError, interpreter};
use rep_sandbox::Cancel;

use super::report::{Came, Fault, Row};
use super::subject::{self, Subject};
use crate::call::tool_name;
use crate::consent;
use crate::exit::Failure;
use crate::runner::{Runner, exposed};

/// The exit code of a shell that found no program.
const NOT_FOUND: i32 = 127;

/// What all trials have in common.
pub(super) struct Attempts {
    runner: Runner,
    is_confined: bool,
    place: PathBuf,
}

/// A trial that could be run, and what came of it.
struct Ran {
    judged: Judged,
    said: Said,
    outcome: Outcome,
    /// What may have gone wrong.
    help: Vec<String>,
}

impl Attempts {
    pub(super) fn new(is_confined: bool) -> Self {
        Self { runner: Runner::new(), is_confined, place: subject::place() }
    }

    /// Runs one trial of a skill; without a number, tells why its cases cannot be run.
    pub(super) fn row(&self, subject: &Subject, trial: Option<usize>, cancel: &Cancel) -> Row {
        let Some(trial) = trial.map(|index| &subject.trials.trials[index]) else {
            let faults = subject.trials.broken.iter().map(|mistake| Fault::Mistake(mistake.clone())).collect();
            let name = trial::CONFIG.rsplit('/').next().unwrap_or(trial::CONFIG);
            let row = Row::new(&subject.name, name, name);
            return Row { came: Came::Error, faults, is_setup: true, ..row };
        };
        let row = Row::new(&subject.name, &trial.case, &trial.name);
        let ran = match &trial.work {
            Err(mistakes) => {
                let faults = mistakes.iter().cloned().map(Fault::Mistake).collect();
                return Row { came: Came::Error, faults, ..row };
            }
            Ok(Attempt::Case(case)) => self.case(subject, case, &trial.case, cancel),
            Ok(Attempt::Smoke(smoke)) => self.smoke(subject, smoke, cancel),
        };
        let is_call = matches!(trial.work, Ok(Attempt::Smoke(_)));
        match ran {
            Ok(ran) => ran.row(row, is_call),
            Err(error) => Row { came: Came::Error, faults: vec![Fault::Tool(error)], ..row },
        }
    }

    /// Runs a command in a copy of the skill.
    fn case(&self, subject: &Subject, case: &Case, stem: &str, cancel: &Cancel) -> Result<Ran, ToolError> {
        let copy = self.copy(subject)?;
        let ground =
            Ground { skill: &subject.name, digest: copy.digest(), folder: copy.folder(), front: subject.skill.front() };
        let plan = trial::plan(&ground, case, stem, &subject.trials.config).map_err(of_plan)?;
        let outcome = self.run(subject, plan, cancel)?;
        let (judged, said) = trial::judge(case, &outcome);
        let help = match (&judged, said.code) {
            (Judged::Fail(_), Some(NOT_FOUND)) => self.programs(&said, copy.folder()),
            _ => Vec::new(),
        };
        Ok(Ran { judged, said, outcome, help })
    }

    /// What a shell finds besides the system's programs, for who misses one.
    fn programs(&self, said: &Said, workspace: &Path) -> Vec<String> {
        let mut help = Vec::new();
        for (runtime, name) in [(ToolRuntime::Python, "python3"), (ToolRuntime::Node, "node")] {
            if let Err(error) = interpreter::find(runtime, workspace, self.runner.search()) {
                help.push(format!("`{name}` is not there: {error}"));
            } else if runtime == ToolRuntime::Python && said.stderr.contains("python: ") {
                help.push(
                    "this machine has no `python`, only `python3`: name that, which every machine has".to_owned(),
                );
            }
        }
        help
    }

    /// Calls a tool with a copy of the skill as its workspace.
    fn smoke(&self, subject: &Subject, smoke: &Smoke, cancel: &Cancel) -> Result<Ran, ToolError> {
        let tool = subject.tools.iter().find(|tool| tool_name(tool) == smoke.tool).ok_or_else(|| {
            let all: Vec<&str> = subject.tools.iter().map(tool_name).collect();
            let error = ToolError::new("TOOL_NOT_FOUND", format!("`{}` has no tool `{}`", subject.name, smoke.tool));
            error.with("remedy", format!("its tools: {}", all.join(", ")))
        })?;
        let front = subject.skill.front().ok_or_else(|| ToolError::new("UNFIT", "the skill has no frontmatter"))?;
        let (copy, workspace) = (self.copy(subject)?, self.copy(subject)?);
        let plan = Plan::of(Call {
            skill: &subject.name,
            digest: copy.digest(),
            folder: copy.folder(),
            front,
            tool,
            workspace: workspace.folder(),
            input: smoke.input.clone(),
        });
        let outcome = self.run(subject, plan.map_err(of_plan)?, cancel)?;
        let (judged, said) = trial::judge_smoke(smoke, &outcome);
        Ok(Ran { judged, said, outcome, help: Vec::new() })
    }

    fn copy(&self, subject: &Subject) -> Result<Copy, ToolError> {
        let copy = Copy::of(subject.copy.folder(), &self.place);
        copy.map_err(|reason| ToolError::new("UNFIT", format!("no copy of the skill could be made: {reason}")))
    }

    /// Runs a plan. Who calls `rep test` agrees to what the tests do.
    fn run(&self, subject: &Subject, mut plan: Plan, cancel: &Cancel) -> Result<Outcome, ToolError> {
        plan.is_confined = self.is_confined;
        // Who tests all there is here did not read what each of them wants of this machine.
        if !subject.is_named {
            plan.permissions.outbound.retain(HostRule::is_public);
        }
        let secrets = secrets(subject, &plan)?;
        let decided = consent::granted_as_called(plan.clone(), subject.trust.clone(), &secrets).map_err(of_failure)?;
        Ok(self.runner.run(decided, &plan, &exposed(&secrets), &[], None, cancel))
    }
}

/// The secrets the tests of a skill get.
fn secrets(subject: &Subject, plan: &Plan) -> Result<BTreeMap<String, Secret>, ToolError> {
    if subject.is_named {
        return consent::secrets(plan).map_err(of_failure);
    }
    match plan.secrets.iter().find(|need| !need.is_optional) {
        None => Ok(BTreeMap::new()),
        Some(need) => {
            let message = format!("it needs the secret `{}`, which only a skill that is named gets", need.name);
            let remedy = format!("`rep test {}`", subject.folder.display());
            Err(ToolError::new("SECRET_MISSING", message).with("remedy", remedy))
        }
    }
}

impl Ran {
    fn row(self, row: Row, is_call: bool) -> Row {
        let (came, faults) = match self.judged {
            Judged::Pass => (Came::Pass, Vec::new()),
            Judged::Fail(mismatches) => (Came::Fail, mismatches.into_iter().map(Fault::Mismatch).collect()),
            Judged::Error(error) => (Came::Error, vec![Fault::Tool(error)]),
            Judged::Interrupted => {
                let error = ToolError::new("CANCELLED", "it was interrupted");
                (Came::Error, vec![Fault::Tool(error)])
            }
        };
        let is_conforming = match &self.outcome.reply {
            Reply::Error(error) => !error.more.contains_key("misfits") && error.code != "INVALID_RESULT",
            _ => true,
        };
        Row {
            came,
            faults,
            said: self.said,
            help: self.help,
            denials: self.outcome.denials,
            duration_ms: self.outcome.duration_ms,
            call: is_call.then_some(is_conforming),
            ..row
        }
    }
}

/// A skill that could not be taken in.
pub(super) fn left_out(skill: &str, failure: Failure) -> Row {
    Row { came: Came::Error, faults: vec![Fault::Tool(of_failure(failure))], ..Row::new(skill, "skill", "skill") }
}

fn of_failure(failure: Failure) -> ToolError {
    let error = ToolError::new(failure.code, failure.message);
    match failure.hints.into_iter().next() {
        Some(hint) => error.with("remedy", hint),
        None => error,
    }
}

fn of_plan(error: PlanError) -> ToolError {
    ToolError::new("INVALID_TOOL", error.to_string()).with("remedy", error.remedy)
}
