//! Runs evals: each prompt twice, with the skill and without it, in separate directories.
//!
//! The directories and files follow the agentskills guide to evaluating skills:
//! `iteration-N/SKILL/eval-ID/with_skill/` contains `outputs/`, `timing.json` and `grading.json`, and the
//! iteration contains `benchmark.json`.
#![expect(clippy::disallowed_methods, reason = "the results of evals are directories and files")]

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rep_sandbox::Cancel;
use rep_storage::WriteError;
use rep_storage::atomic;
use serde_json::{Value, json};

use super::agent::{self, AgentAnswer, AgentRequest};
use super::evals::Eval;
use super::grade::{self, AssertionGrade, EvalMeasurement};
use super::run::TestSubject;
use crate::runtime::Runtime;

/// The time limit of an agent for one prompt, in seconds.
const AGENT_TIMEOUT_S: u64 = 3_600;
/// The maximum number of iterations in a directory.
const ITERATIONS_MAX: u32 = 10_000;
/// The maximum number of files of an answer that are listed, and the maximum depth.
const FILES_MAX: usize = 10_000;
const DEPTH_MAX: usize = 16;
/// The maximum size of an agent's `timing.json`.
const TIMING_BYTES_MAX: u64 = 64 << 10;
/// The maximum number of characters of an id in a directory name.
const SLUG_CHARS_MAX: usize = 64;
/// The file name of the answer.
const ANSWER_FILE: &str = "response.txt";

/// The agent to run, and the directory for the results.
#[derive(Clone, Copy, Debug)]
pub struct EvalOptions<'a> {
    /// The agent, by name or absolute path, and its arguments.
    pub agent: &'a [String],
    /// The directory in which each iteration gets a subdirectory.
    pub out: &'a Path,
}

/// The reason why evals could not run.
#[derive(Debug, thiserror::Error)]
pub enum EvalError {
    /// The user did not name the skill. The agent follows the skill's instructions and is not confined.
    #[error("`{skill}` was not named")]
    NotNamed {
        /// The skill.
        skill: String,
        /// Its directory.
        folder: PathBuf,
    },
    /// The agent could not be started.
    #[error("{0}")]
    AgentUnavailable(String),
    /// A directory contains too many iterations.
    #[error("`{}` contains too many iterations", .0.display())]
    Full(PathBuf),
    /// A result could not be written.
    #[error(transparent)]
    Unwritable(#[from] WriteError),
}

/// The results of the evals of a call.
#[derive(Clone, Debug)]
pub struct EvalReport {
    /// Each completed eval.
    pub evals: Vec<EvalResult>,
    /// The contents of `benchmark.json`: all runs with the skill, compared with those without it.
    pub benchmark: Value,
    /// The directory of this iteration.
    pub folder: PathBuf,
}

/// One eval, answered with and without the skill.
#[derive(Clone, Debug)]
pub struct EvalResult {
    /// The skill's qualified name.
    pub skill: String,
    /// The id of the eval.
    pub id: String,
    /// The answer with the skill.
    pub with_skill: EvalAnswer,
    /// The answer without it.
    pub without_skill: EvalAnswer,
}

/// One answer of an agent, graded as far as possible without a judge.
#[derive(Clone, Debug)]
pub struct EvalAnswer {
    /// The answer.
    pub answer: AgentAnswer,
    /// The graded assertions.
    pub grades: Vec<AssertionGrade>,
    /// The token count, if the agent reports it.
    pub tokens: Option<f64>,
}

impl EvalReport {
    /// Renders the report as JSON.
    pub fn to_json(&self) -> Value {
        let evals: Vec<Value> = self.evals.iter().map(EvalResult::to_json).collect();
        json!({ "evals": evals, "benchmark": self.benchmark, "out": self.folder.to_string_lossy() })
    }
}

impl EvalResult {
    fn to_json(&self) -> Value {
        json!({
            "skill": self.skill,
            "id": self.id,
            "with_skill": self.with_skill.to_json(),
            "without_skill": self.without_skill.to_json(),
        })
    }
}

impl EvalAnswer {
    /// Counts the assertions with this grade; `None` counts those that need a judge.
    pub fn count_grades(&self, passed: Option<bool>) -> usize {
        self.grades.iter().filter(|grade| grade.passed == passed).count()
    }

    fn measure(&self) -> EvalMeasurement {
        let seconds = Duration::from_millis(self.answer.duration_ms).as_secs_f64();
        EvalMeasurement { pass_rate: grade::pass_rate(&self.grades), seconds, tokens: self.tokens }
    }

    fn to_json(&self) -> Value {
        json!({
            "ended_well": self.answer.is_success,
            "duration_ms": self.answer.duration_ms,
            "total_tokens": self.tokens,
            "grading": grade::grading_json(&self.grades)["summary"],
        })
    }
}

impl Runtime {
    /// Runs the evals of these skills with an agent and writes the results; `told` receives each eval as soon
    /// as it is answered. Returns `None` if it was interrupted. The agent runs as the user, outside the
    /// sandbox.
    pub fn run_evals(
        &self,
        subjects: &[TestSubject],
        options: EvalOptions<'_>,
        cancel: &Cancel,
        told: &mut dyn FnMut(&EvalResult),
    ) -> Result<Option<EvalReport>, EvalError> {
        if let Some(subject) = subjects.iter().find(|subject| !subject.is_named) {
            return Err(EvalError::NotNamed { skill: subject.name.clone(), folder: subject.folder.clone() });
        }
        let iteration = make_iteration(options.out)?;
        let mut evals: Vec<EvalResult> = Vec::new();
        for subject in subjects {
            for eval in subject.tests.evals.iter().flat_map(|evals| &evals.evals) {
                let folder = iteration.join(&subject.skill.tree.folder).join(format!("eval-{}", slugify_id(&eval.id)));
                let ask = |skill: Option<&Path>, name: &str| {
                    self.ask_eval(options.agent, subject, eval, skill, &folder.join(name), cancel)
                };
                let with_skill = ask(Some(subject.copy_folder()), "with_skill")?;
                if with_skill.answer.is_interrupted {
                    return Ok(None);
                }
                let without_skill = ask(None, "without_skill")?;
                if without_skill.answer.is_interrupted {
                    return Ok(None);
                }
                let (skill, id) = (subject.name.clone(), eval.id.clone());
                let result = EvalResult { skill, id, with_skill, without_skill };
                told(&result);
                evals.push(result);
            }
        }
        let with: Vec<EvalMeasurement> = evals.iter().map(|eval| eval.with_skill.measure()).collect();
        let without: Vec<EvalMeasurement> = evals.iter().map(|eval| eval.without_skill.measure()).collect();
        let benchmark = grade::benchmark_json(&with, &without);
        write_json(&iteration.join("benchmark.json"), &benchmark)?;
        Ok(Some(EvalReport { evals, benchmark, folder: iteration }))
    }

    /// Runs one prompt in a fresh directory and writes the results.
    fn ask_eval(
        &self,
        agent: &[String],
        subject: &TestSubject,
        eval: &Eval,
        skill: Option<&Path>,
        folder: &Path,
        cancel: &Cancel,
    ) -> Result<EvalAnswer, EvalError> {
        let outputs = folder.join("outputs");
        make_folder(&outputs)?;
        for file in &eval.files {
            let to = outputs.join(file);
            make_folder(to.parent().unwrap_or(&outputs))?;
            fs::copy(subject.copy_folder().join(file), &to).map_err(|error| write_error(&to, error))?;
        }
        let given = list_files_below(&outputs);
        let outputs = fs::canonicalize(&outputs).map_err(|error| write_error(&outputs, error))?;
        let timing = outputs.with_file_name("timing.json");
        let asked =
            AgentRequest { prompt: &eval.prompt, skill, folder: &outputs, timing: &timing, timeout_s: AGENT_TIMEOUT_S };
        let answered =
            agent::ask_agent(agent, &asked, self.interpreter_search(), cancel).map_err(EvalError::AgentUnavailable)?;
        let made: BTreeSet<String> = list_files_below(&outputs).difference(&given).cloned().collect();
        let grades = grade::grade_answer(&eval.assertions, &answered.text, &made);
        let own = rep_library::skill_reader::read_text(&timing, TIMING_BYTES_MAX).ok();
        let tokens = own.and_then(|text| serde_json::from_str::<Value>(&text).ok()?["total_tokens"].as_f64());
        atomic::replace_file(&outputs.join(ANSWER_FILE), answered.text.as_bytes())?;
        write_json(&timing, &json!({ "total_tokens": tokens, "duration_ms": answered.duration_ms }))?;
        write_json(&folder.join("grading.json"), &grade::grading_json(&grades))?;
        Ok(EvalAnswer { answer: answered, grades, tokens })
    }
}

/// Creates a new directory for this iteration.
fn make_iteration(out: &Path) -> Result<PathBuf, EvalError> {
    make_folder(out)?;
    for number in 1..=ITERATIONS_MAX {
        let folder = out.join(format!("iteration-{number}"));
        match fs::create_dir(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(write_error(&folder, error).into()),
        }
    }
    Err(EvalError::Full(out.to_owned()))
}

fn make_folder(folder: &Path) -> Result<(), WriteError> {
    fs::create_dir_all(folder).map_err(|error| write_error(folder, error))
}

fn write_json(file: &Path, value: &Value) -> Result<(), WriteError> {
    atomic::replace_file(file, format!("{value:#}\n").as_bytes())
}

fn write_error(path: &Path, source: io::Error) -> WriteError {
    WriteError::Failed { path: path.to_owned(), source }
}

/// Converts an id to a directory name.
fn slugify_id(id: &str) -> String {
    let letter = |letter: char| if letter.is_ascii_alphanumeric() || letter == '-' { letter } else { '-' };
    id.chars().take(SLUG_CHARS_MAX).map(letter).collect()
}

/// Lists the files below a directory, relative to it. Links are not followed.
fn list_files_below(root: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![(root.to_owned(), 0)];
    while let Some((folder, depth)) = open.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() && depth < DEPTH_MAX {
                open.push((entry.path(), depth + 1));
            } else if kind.is_file() && found.len() < FILES_MAX {
                let path = entry.path();
                found.extend(path.strip_prefix(root).ok().map(|path| path.to_string_lossy().into_owned()));
            }
        }
    }
    found
}
