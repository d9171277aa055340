//! `--evals`: each prompt twice, with the skill and without it, and the files of the guide to evaluating skills.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use rep_runtime::interpreter::Search;
use rep_runtime::trial::agent::{self, Answered, Asked};
use rep_runtime::trial::evals::Eval;
use rep_runtime::trial::grade::{self, Grade, Measured};
use rep_runtime::trial::run::TestSubject;
use rep_sandbox::Cancel;
use serde_json::{Value, json};

use super::Args;
use crate::exit::{Exit, Failure};
use crate::output::Output;
use crate::terminal;
use crate::write;

/// How long an agent may think about one prompt, in seconds.
const TIMEOUT_S: u64 = 3_600;
/// The most iterations that are kept apart.
const ITERATIONS_MAX: u32 = 10_000;
/// The most files of an answer that are looked at, and how deep.
const FILES_MAX: usize = 10_000;
const DEPTH_MAX: usize = 16;
/// What the answer itself is called.
const ANSWER: &str = "response.txt";

/// One prompt that was asked.
struct Run {
    answered: Answered,
    grades: Vec<Grade>,
    tokens: Option<f64>,
}

pub(super) fn run(args: &Args, cancel: &Cancel, output: &mut Output) -> Result<Exit, Failure> {
    let found = super::find(args, output)?;
    if let Some(subject) = found.subjects.iter().find(|subject| !subject.is_named) {
        // The agent obeys what the skill says, and nothing holds the agent.
        let failure = Failure::refused("UNTRUSTED", format!("`{}` was not named", subject.name));
        return Err(failure.hint(format!("name what the agent may read: `rep test {} …`", subject.folder.display())));
    }
    let mut words = args.agent.clone();
    if let Some(program) = words.first_mut().filter(|program| program.contains('/')) {
        // The agent starts elsewhere.
        *program = std::path::absolute(&*program).map_or_else(|_| program.clone(), |path| path.display().to_string());
    }
    let out = args.out.as_deref().unwrap_or(Path::new("evals-out"));
    let runtime = terminal::stored();
    let mut told = Vec::new();
    let (mut with, mut without) = (Vec::new(), Vec::new());
    let iteration = iteration(out)?;
    for subject in &found.subjects {
        subject.trials.notes.iter().for_each(|note| output.warn(&format!("`{}`: {note}", subject.name)));
        for eval in subject.trials.evals.iter().flat_map(|evals| &evals.evals) {
            let folder = iteration.join(&subject.skill.tree.folder).join(format!("eval-{}", slug(&eval.id)));
            let mut row = json!({ "skill": subject.name, "id": eval.id });
            for (name, skill, measured) in
                [("with_skill", Some(subject.copy_folder()), &mut with), ("without_skill", None, &mut without)]
            {
                let run = ask(&words, subject, eval, skill, &folder.join(name), runtime.search(), cancel)?;
                if run.answered.is_interrupted {
                    return Ok(Exit::Interrupted);
                }
                measured.push(run.measured());
                row[name] = run.json();
            }
            if !args.json {
                output.data(&format!("{}  eval {}  {}\n", subject.name, eval.id, in_words(&row)));
            }
            told.push(row);
        }
    }
    let benchmark = grade::benchmark(&with, &without);
    write::put(&iteration.join("benchmark.json"), &format!("{benchmark:#}\n"))?;
    if args.json {
        output.json(&json!({ "evals": told, "benchmark": benchmark, "out": iteration.to_string_lossy() }));
    } else {
        output.data(&format!("{} evals asked; `{}` has the rest\n", told.len(), iteration.display()));
    }
    Ok(Exit::Fine)
}

/// Asks one prompt in a fresh folder, and writes what came of it.
fn ask(
    words: &[String],
    subject: &TestSubject,
    eval: &Eval,
    skill: Option<&Path>,
    folder: &Path,
    search: &Search,
    cancel: &Cancel,
) -> Result<Run, Failure> {
    let outputs = folder.join("outputs");
    make(&outputs)?;
    for file in &eval.files {
        let to = outputs.join(file);
        make(to.parent().unwrap_or(&outputs))?;
        fs::copy(subject.copy_folder().join(file), &to).map_err(|error| unwritable(&to, &error))?;
    }
    let given = left(&outputs);
    let outputs = fs::canonicalize(&outputs).map_err(|error| unwritable(&outputs, &error))?;
    let timing = outputs.with_file_name("timing.json");
    let asked = Asked { prompt: &eval.prompt, skill, folder: &outputs, timing: &timing, timeout_s: TIMEOUT_S };
    let answered = agent::ask(words, &asked, search, cancel)
        .map_err(|reason| Failure::unable("AGENT_UNAVAILABLE", reason).hint("name a program after --agent"))?;
    let files: BTreeSet<String> = left(&outputs).difference(&given).cloned().collect();
    let grades = grade::grade(&eval.assertions, &answered.text, &files);
    let tokens = rep_library::read::text(&timing, 64 << 10).ok();
    let tokens = tokens.and_then(|text| serde_json::from_str::<Value>(&text).ok()?["total_tokens"].as_f64());
    let run = Run { answered, grades, tokens };
    write::put(&outputs.join(ANSWER), &run.answered.text)?;
    let time = json!({ "total_tokens": run.tokens, "duration_ms": run.answered.duration_ms });
    write::put(&timing, &format!("{time:#}\n"))?;
    write::put(&folder.join("grading.json"), &format!("{:#}\n", grade::grading(&run.grades)))?;
    Ok(run)
}

impl Run {
    fn measured(&self) -> Measured {
        let seconds = std::time::Duration::from_millis(self.answered.duration_ms).as_secs_f64();
        Measured { pass_rate: grade::pass_rate(&self.grades), seconds, tokens: self.tokens }
    }

    fn json(&self) -> Value {
        json!({
            "ended_well": self.answered.is_fine,
            "duration_ms": self.answered.duration_ms,
            "total_tokens": self.tokens,
            "grading": grade::grading(&self.grades)["summary"],
        })
    }
}

fn in_words(row: &Value) -> String {
    let side = |name: &str| {
        let (run, summary) = (&row[name], &row[name]["grading"]);
        let ended = if run["ended_well"] == true { "" } else { ", the agent failed" };
        format!("{} of {} hold, {} need a judge{ended}", summary["passed"], summary["total"], summary["ungraded"])
    };
    format!("with the skill: {}; without: {}", side("with_skill"), side("without_skill"))
}

/// A folder for this iteration that nobody wrote to before.
fn iteration(out: &Path) -> Result<PathBuf, Failure> {
    make(out)?;
    for number in 1..=ITERATIONS_MAX {
        let folder = out.join(format!("iteration-{number}"));
        match fs::create_dir(&folder) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(unwritable(&folder, &error)),
        }
    }
    Err(Failure::unable("UNWRITABLE", format!("`{}` is full of iterations", out.display())).hint("name another --out"))
}

fn make(folder: &Path) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::unable("UNWRITABLE", format!("could not write `{}`: {error}", path.display()))
}

/// An id as a folder's name.
fn slug(id: &str) -> String {
    id.chars()
        .take(64)
        .map(|letter| if letter.is_ascii_alphanumeric() || letter == '-' { letter } else { '-' })
        .collect()
}

/// The files below a folder, relative to it. Links are not followed.
fn left(root: &Path) -> BTreeSet<String> {
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
