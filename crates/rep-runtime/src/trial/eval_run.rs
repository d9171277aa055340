//! Runs evals: each prompt twice, with the skill and without it, in folders of their own.
//!
//! The folders and files are those of the agentskills guide to evaluating skills:
//! `iteration-N/SKILL/eval-ID/with_skill/` holds `outputs/`, `timing.json` and `grading.json`, and the iteration holds
//! `benchmark.json`.
#![expect(clippy::disallowed_methods, reason = "the results of evals are folders and files")]

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rep_sandbox::Cancel;
use rep_storage::WriteError;
use rep_storage::atomic;
use serde_json::{Value, json};

use super::agent::{self, Answered, Asked};
use super::evals::Eval;
use super::grade::{self, Grade, Measured};
use super::run::TestSubject;
use crate::runtime::Runtime;

/// How long an agent may think about one prompt, in seconds.
const TIMEOUT_S: u64 = 3_600;
/// The most iterations that are kept apart.
const ITERATIONS_MAX: u32 = 10_000;
/// The most files of an answer that are looked at, and how deep.
const FILES_MAX: usize = 10_000;
const DEPTH_MAX: usize = 16;
/// The largest `timing.json` of an agent.
const TIMING_BYTES_MAX: u64 = 64 << 10;
/// The most characters of an id in a folder's name.
const SLUG_CHARS_MAX: usize = 64;
/// What the answer itself is called.
const ANSWER: &str = "response.txt";

/// Whom to ask the evals, and where the results go.
#[derive(Clone, Copy, Debug)]
pub struct EvalOptions<'a> {
    /// The agent, by its name or its absolute path, and its arguments.
    pub agent: &'a [String],
    /// The folder that gets one of its own for each iteration.
    pub out: &'a Path,
}

/// Why evals could not be run.
#[derive(Debug, thiserror::Error)]
pub enum EvalError {
    /// The user did not name the skill. The agent does what the skill says, and nothing confines the agent.
    #[error("`{skill}` was not named")]
    NotNamed {
        /// The skill.
        skill: String,
        /// Its directory.
        folder: PathBuf,
    },
    /// The agent could not be asked.
    #[error("{0}")]
    AgentUnavailable(String),
    /// There are too many iterations in a folder.
    #[error("`{}` is full of iterations", .0.display())]
    Full(PathBuf),
    /// A result could not be written.
    #[error(transparent)]
    Unwritable(#[from] WriteError),
}

/// What the evals of a call came to.
#[derive(Clone, Debug)]
pub struct EvalReport {
    /// Each eval that was asked.
    pub evals: Vec<EvalResult>,
    /// What is in `benchmark.json`: all runs with the skill, compared with those without it.
    pub benchmark: Value,
    /// The folder of this iteration.
    pub folder: PathBuf,
}

/// One eval that was asked twice.
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

/// One answer of an agent, graded as far as that can be done without a judge.
#[derive(Clone, Debug)]
pub struct EvalAnswer {
    /// What it answered.
    pub answered: Answered,
    /// The statements about it.
    pub grades: Vec<Grade>,
    /// What it cost, if the agent says so.
    pub tokens: Option<f64>,
}

impl EvalReport {
    /// The report as JSON.
    pub fn value(&self) -> Value {
        let evals: Vec<Value> = self.evals.iter().map(EvalResult::value).collect();
        json!({ "evals": evals, "benchmark": self.benchmark, "out": self.folder.to_string_lossy() })
    }
}

impl EvalResult {
    fn value(&self) -> Value {
        json!({
            "skill": self.skill,
            "id": self.id,
            "with_skill": self.with_skill.value(),
            "without_skill": self.without_skill.value(),
        })
    }
}

impl EvalAnswer {
    /// How many of the statements have this grade; `None` counts those that need a judge.
    pub fn count(&self, passed: Option<bool>) -> usize {
        self.grades.iter().filter(|grade| grade.passed == passed).count()
    }

    fn measured(&self) -> Measured {
        let seconds = Duration::from_millis(self.answered.duration_ms).as_secs_f64();
        Measured { pass_rate: grade::pass_rate(&self.grades), seconds, tokens: self.tokens }
    }

    fn value(&self) -> Value {
        json!({
            "ended_well": self.answered.is_fine,
            "duration_ms": self.answered.duration_ms,
            "total_tokens": self.tokens,
            "grading": grade::grading(&self.grades)["summary"],
        })
    }
}

impl Runtime {
    /// Asks an agent the evals of these skills and writes what came of it; `told` gets each eval as soon as it is
    /// answered. `None` if it was interrupted. The agent runs as the user, outside of any sandbox.
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
            for eval in subject.trials.evals.iter().flat_map(|evals| &evals.evals) {
                let folder = iteration.join(&subject.skill.tree.folder).join(format!("eval-{}", slug(&eval.id)));
                let ask = |skill: Option<&Path>, name: &str| {
                    self.ask_eval(options.agent, subject, eval, skill, &folder.join(name), cancel)
                };
                let with_skill = ask(Some(subject.copy_folder()), "with_skill")?;
                if with_skill.answered.is_interrupted {
                    return Ok(None);
                }
                let without_skill = ask(None, "without_skill")?;
                if without_skill.answered.is_interrupted {
                    return Ok(None);
                }
                let (skill, id) = (subject.name.clone(), eval.id.clone());
                let result = EvalResult { skill, id, with_skill, without_skill };
                told(&result);
                evals.push(result);
            }
        }
        let with: Vec<Measured> = evals.iter().map(|eval| eval.with_skill.measured()).collect();
        let without: Vec<Measured> = evals.iter().map(|eval| eval.without_skill.measured()).collect();
        let benchmark = grade::benchmark(&with, &without);
        write_json(&iteration.join("benchmark.json"), &benchmark)?;
        Ok(Some(EvalReport { evals, benchmark, folder: iteration }))
    }

    /// Asks one prompt in a fresh folder, and writes what came of it.
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
            fs::copy(subject.copy_folder().join(file), &to).map_err(|error| unwritable(&to, error))?;
        }
        let given = files_below(&outputs);
        let outputs = fs::canonicalize(&outputs).map_err(|error| unwritable(&outputs, error))?;
        let timing = outputs.with_file_name("timing.json");
        let asked = Asked { prompt: &eval.prompt, skill, folder: &outputs, timing: &timing, timeout_s: TIMEOUT_S };
        let answered = agent::ask(agent, &asked, self.search(), cancel).map_err(EvalError::AgentUnavailable)?;
        let made: BTreeSet<String> = files_below(&outputs).difference(&given).cloned().collect();
        let grades = grade::grade(&eval.assertions, &answered.text, &made);
        let own = rep_library::read::text(&timing, TIMING_BYTES_MAX).ok();
        let tokens = own.and_then(|text| serde_json::from_str::<Value>(&text).ok()?["total_tokens"].as_f64());
        atomic::put(&outputs.join(ANSWER), answered.text.as_bytes())?;
        write_json(&timing, &json!({ "total_tokens": tokens, "duration_ms": answered.duration_ms }))?;
        write_json(&folder.join("grading.json"), &grade::grading(&grades))?;
        Ok(EvalAnswer { answered, grades, tokens })
    }
}

/// Makes a folder for this iteration that nobody wrote to before.
fn make_iteration(out: &Path) -> Result<PathBuf, EvalError> {
    make_folder(out)?;
    for number in 1..=ITERATIONS_MAX {
        let folder = out.join(format!("iteration-{number}"));
        match fs::create_dir(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(unwritable(&folder, error).into()),
        }
    }
    Err(EvalError::Full(out.to_owned()))
}

fn make_folder(folder: &Path) -> Result<(), WriteError> {
    fs::create_dir_all(folder).map_err(|error| unwritable(folder, error))
}

fn write_json(file: &Path, value: &Value) -> Result<(), WriteError> {
    atomic::put(file, format!("{value:#}\n").as_bytes())
}

fn unwritable(path: &Path, source: io::Error) -> WriteError {
    WriteError::Failed { path: path.to_owned(), source }
}

/// An id as a folder's name.
fn slug(id: &str) -> String {
    let letter = |letter: char| if letter.is_ascii_alphanumeric() || letter == '-' { letter } else { '-' };
    id.chars().take(SLUG_CHARS_MAX).map(letter).collect()
}

/// The files below a folder, relative to it. Links are not followed.
fn files_below(root: &Path) -> BTreeSet<String> {
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
