//! `--evals`: asks an agent of the user's, and says what came of it.

use std::path::Path;

use rep_runtime::trial::eval_run::{EvalAnswer, EvalError, EvalOptions, EvalResult};
use rep_sandbox::Cancel;

use super::{Args, find, say_notes};
use crate::exit::{Exit, Failure};
use crate::output::Output;
use crate::terminal;

pub(super) fn run(args: &Args, cancel: &Cancel, output: &mut Output) -> Result<Exit, Failure> {
    let found = find(args, output)?;
    let mut agent = args.agent.clone();
    if let Some(program) = agent.first_mut().filter(|program| program.contains('/')) {
        // The agent starts elsewhere.
        *program = std::path::absolute(&*program).map_or_else(|_| program.clone(), |path| path.display().to_string());
    }
    let out = args.out.as_deref().unwrap_or(Path::new("evals-out"));
    say_notes(&found.subjects, output);
    let asked =
        terminal::stored().run_evals(&found.subjects, EvalOptions { agent: &agent, out }, cancel, &mut |result| {
            if !args.json {
                output.data(&line(result));
            }
        });
    let Some(report) = asked? else { return Ok(Exit::Interrupted) };
    if args.json {
        output.json(&report.value());
    } else {
        output.data(&format!("{} evals asked; `{}` has the rest\n", report.evals.len(), report.folder.display()));
    }
    Ok(Exit::Fine)
}

fn line(result: &EvalResult) -> String {
    let side = |answer: &EvalAnswer| {
        let ended = if answer.answered.is_fine { "" } else { ", the agent failed" };
        let (passed, ungraded) = (answer.count(Some(true)), answer.count(None));
        format!("{passed} of {} hold, {ungraded} need a judge{ended}", answer.grades.len())
    };
    let (with, without) = (side(&result.with_skill), side(&result.without_skill));
    format!("{}  eval {}  with the skill: {with}; without: {without}\n", result.skill, result.id)
}

impl From<EvalError> for Failure {
    fn from(error: EvalError) -> Self {
        let message = error.to_string();
        match error {
            EvalError::NotNamed { folder, .. } => Failure::refused("UNTRUSTED", message)
                .hint(format!("name what the agent may read: `rep test {} …`", folder.display())),
            EvalError::AgentUnavailable(_) => {
                Failure::unable("AGENT_UNAVAILABLE", message).hint("name a program after --agent")
            }
            EvalError::Full(_) => Failure::unable("UNWRITABLE", message).hint("name another --out"),
            EvalError::Unwritable(error) => error.into(),
        }
    }
}
