//! `--evals`: runs evals with the user's agent, and prints the results.

use std::path::Path;

use rep_runtime::skill_test::eval_run::{EvalAnswer, EvalError, EvalOptions, EvalResult};
use rep_sandbox::Cancel;

use super::{Args, find_test_subjects, report_notes};
use crate::exit::{Exit, Failure};
use crate::output::Output;
use crate::terminal;

pub(super) fn run_skill_evals(args: &Args, cancel: &Cancel, output: &mut Output) -> Result<Exit, Failure> {
    let found = find_test_subjects(args, output)?;
    let mut agent = args.agent.clone();
    if let Some(program) = agent.first_mut().filter(|program| program.contains('/')) {
        // The agent starts in another directory.
        *program = std::path::absolute(&*program).map_or_else(|_| program.clone(), |path| path.display().to_string());
    }
    let out = args.out.as_deref().unwrap_or(Path::new("evals-out"));
    report_notes(&found.subjects, output);
    let asked = terminal::open_stored_runtime().run_evals(
        &found.subjects,
        EvalOptions { agent: &agent, out },
        cancel,
        &mut |result| {
            if !args.json {
                output.write_data(&render_eval(result));
            }
        },
    );
    let Some(report) = asked? else { return Ok(Exit::Interrupted) };
    if args.json {
        output.write_json(&report.to_json());
    } else {
        output.write_data(&format!("ran {} evals; details are in `{}`\n", report.evals.len(), report.folder.display()));
    }
    Ok(Exit::Fine)
}

fn render_eval(result: &EvalResult) -> String {
    let side = |answer: &EvalAnswer| {
        let ended = if answer.answer.is_success { "" } else { ", the agent failed" };
        let (passed, ungraded) = (answer.count_grades(Some(true)), answer.count_grades(None));
        format!("{passed} of {} passed, {ungraded} need grading{ended}", answer.grades.len())
    };
    let (with, without) = (side(&result.with_skill), side(&result.without_skill));
    format!("{}  eval {}  with the skill: {with}; without: {without}\n", result.skill, result.id)
}

impl From<EvalError> for Failure {
    fn from(error: EvalError) -> Self {
        let message = error.to_string();
        match error {
            EvalError::NotNamed { folder, .. } => Failure::refused("UNTRUSTED", message)
                .hint(format!("pass a directory that the agent may read: `rep test {} …`", folder.display())),
            EvalError::AgentUnavailable(_) => {
                Failure::unable("AGENT_UNAVAILABLE", message).hint("pass a program after --agent")
            }
            EvalError::Full(_) => Failure::unable("UNWRITABLE", message).hint("pass another directory with --out"),
            EvalError::Unwritable(error) => error.into(),
        }
    }
}
