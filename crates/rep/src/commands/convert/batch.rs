//! Many conversions: on all cores, each file by itself, and what is in step left alone.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rep_convert::convert::Stamp;
use rep_library::find::Found;
use rep_library::read;
use rep_model::uasp::SUFFIX;
use rep_model::{hash, yaml};
use rep_sandbox::interrupt;
use serde_json::{Value, json};

use super::subject::{self, Converted, Subject, beside, by_engine, by_rule};
use super::{Args, Engine, invalid, llm, write_report};
use crate::exit::{Exit, Failure};
use crate::output::Output;
use crate::write;

/// The largest UASP file that is read.
pub(super) const FILE_MAX: u64 = 8 << 20;

/// What came of one skill.
enum Outcome {
    Written(PathBuf),
    InStep(PathBuf),
    /// There is no Markdown, and nobody asked for this skill by name.
    Passed,
    Failed(Failure),
}

/// What came of one skill, and where it went.
type Done = Result<(Converted, Outcome), Failure>;

/// Converts skills into files of their own.
pub(super) fn convert(args: &Args, found: &[Found], is_sweep: bool, output: &mut Output) -> Result<Exit, Failure> {
    if args.out.is_some() || (args.out_dir.is_none() && !args.is_beside) {
        let failure = Failure::unable("USAGE", format!("{} skills are meant, and need a folder", found.len()));
        return Err(failure.hint("give --out-dir, or --beside to write into the skills' own folders"));
    }
    let shared = shared_names(found);
    let taken = Mutex::new(BTreeSet::new());
    // Each is written as soon as it is made: who interrupts finds what was done, and goes on there.
    let keep = |one: &Found, (subject, made): (Subject, Converted)| {
        let target = target(args, one, &subject, &made, &shared, &taken);
        let outcome = put(one, &made, &target, args).unwrap_or_else(Outcome::Failed);
        (made, outcome)
    };
    let bar = progress(found.len(), output);
    let results: Vec<Done> = match args.engine() {
        Engine::Rules => {
            let cancel = interrupt::on_interrupt();
            let results = on_all_cores(found, &bar, |one| {
                (!cancel.is_cancelled()).then(|| by_rule(one).map(|done| keep(one, done)))
            });
            if cancel.is_cancelled() {
                bar.finish_and_clear();
                let count = results.iter().flatten().count();
                output.insist(&format!("interrupted after {count} of {} skills; call it again to go on", found.len()));
                return Ok(Exit::Interrupted);
            }
            results.into_iter().flatten().collect()
        }
        Engine::Llm | Engine::Hybrid => by_model(args, found, &bar, output, keep)?,
    };
    bar.finish_and_clear();
    let mut outcomes = Vec::with_capacity(found.len());
    let mut converted = Vec::new();
    for result in results {
        outcomes.push(match result {
            Err(failure) if is_sweep && failure.code == "NOT_MARKDOWN" => Outcome::Passed,
            Err(failure) => Outcome::Failed(failure),
            Ok((made, outcome)) => {
                converted.push((outcomes.len(), made));
                outcome
            }
        });
    }
    if let Some(path) = &args.report {
        let reports: Vec<_> = converted.iter().map(|(_, made)| &made.report).collect();
        write_report(path, &reports, args.is_forced)?;
    }
    tell(args, found, &outcomes, &converted, output);
    let has_failed = outcomes.iter().any(|outcome| matches!(outcome, Outcome::Failed(_)));
    Ok(if has_failed { Exit::Findings } else { Exit::Fine })
}

/// Asks a model about one skill after the other, until it is clear that it answers nobody.
fn by_model(
    args: &Args,
    found: &[Found],
    bar: &ProgressBar,
    output: &mut Output,
    keep: impl Fn(&Found, (Subject, Converted)) -> (Converted, Outcome),
) -> Result<Vec<Done>, Failure> {
    if args.model.is_wanted() {
        let failure = Failure::unable("USAGE", format!("{} skills are meant, and one can be asked about", found.len()));
        return Err(failure.hint("name one of them"));
    }
    let mut results = Vec::with_capacity(found.len());
    for one in found {
        let result = by_engine(one, args, output);
        bar.inc(1);
        match result {
            Err(failure) if llm::is_hopeless(&failure) => return Err(failure),
            result => results.push(result.map(|done| keep(one, done))),
        }
    }
    Ok(results)
}

/// The names that more than one of the skills bears.
fn shared_names(found: &[Found]) -> BTreeSet<String> {
    let name = |one: &Found| subject::read(one).ok().and_then(|subject| subject.skill.name().map(str::to_owned));
    let (mut seen, mut shared) = (BTreeSet::new(), BTreeSet::new());
    for name in on_all_cores(found, &ProgressBar::hidden(), name).into_iter().flatten() {
        if !seen.insert(name.clone()) {
            shared.insert(name);
        }
    }
    shared
}

/// Where a skill's file goes. Skills of one name keep apart by their folders.
fn target(
    args: &Args,
    one: &Found,
    subject: &Subject,
    converted: &Converted,
    shared: &BTreeSet<String>,
    taken: &Mutex<BTreeSet<PathBuf>>,
) -> PathBuf {
    let name = converted.name();
    let Some(folder) = &args.out_dir else { return beside(one, subject, name) };
    let plain = in_folder(folder, &one.path, name, shared.contains(name));
    let mut taken = taken.lock().unwrap_or_else(PoisonError::into_inner);
    if taken.insert(plain.clone()) { plain } else { in_folder(folder, &one.path, name, true) }
}

/// The file of a skill in a folder of many.
fn in_folder(folder: &Path, skill: &Path, name: &str, is_shared: bool) -> PathBuf {
    let file = format!("{name}{SUFFIX}");
    let parts = skill.components().filter(|part| is_shared && matches!(part, Component::Normal(_)));
    folder.join(parts.collect::<PathBuf>()).join(file)
}

/// Writes one file, unless it is in step, or holds what somebody wrote by hand.
fn put(found: &Found, converted: &Converted, target: &Path, args: &Args) -> Result<Outcome, Failure> {
    if !converted.report.is_valid() {
        return Ok(Outcome::Failed(invalid(found, converted)));
    }
    if target.symlink_metadata().is_err() || args.is_forced {
        write::file(target, converted.text.as_bytes(), args.is_forced)?;
        return Ok(Outcome::Written(target.to_owned()));
    }
    let text = read::text(target, FILE_MAX)?;
    let shown = target.display();
    let Some(stamp) = Stamp::of(&text) else {
        let failure =
            Failure::unable("EXISTS", format!("`{shown}` is there already, and was not made by `rep convert`"));
        return Err(failure.hint("--force replaces it"));
    };
    let is_same = stamp.source == converted.stamp.source && stamp.engine == converted.stamp.engine;
    if is_same || (stamp.facts == converted.stamp.facts && stamp.engine == converted.stamp.engine) {
        return Ok(Outcome::InStep(target.to_owned()));
    }
    if version(&text).as_deref() != Some(&stamp.content) {
        let failure = Failure::unable("EDITED", format!("`{shown}` was edited by hand, and its Markdown has changed"));
        return Err(failure.hint("`rep convert --check` shows what differs; --force replaces the file"));
    }
    write::file(target, converted.text.as_bytes(), true)?;
    Ok(Outcome::Written(target.to_owned()))
}

/// The version of a file's content, where it has one.
pub(super) fn version(text: &str) -> Option<String> {
    let root = yaml::parse(text, 0).root?;
    hash::sha256(&root).ok().map(|digest| digest[..8].to_owned())
}

/// Works on all skills with as many workers as there are cores; the results come in the skills' order.
pub(super) fn on_all_cores<T: Send>(found: &[Found], bar: &ProgressBar, work: impl Fn(&Found) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(found.len()));
    let workers = thread::available_parallelism().map_or(1, usize::from).min(found.len());
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some((number, one)) = {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    found.get(number).map(|one| (number, one))
                } {
                    let result = work(one);
                    bar.inc(1);
                    done.lock().unwrap_or_else(PoisonError::into_inner).push((number, result));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, result)| result).collect()
}

pub(super) fn progress(count: usize, output: &Output) -> ProgressBar {
    if !output.is_watched() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(Some(count as u64), ProgressDrawTarget::stderr_with_hz(10));
    let style = ProgressStyle::with_template("converting {bar:30} {pos}/{len} skills")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.set_style(style);
    bar
}

fn tell(args: &Args, found: &[Found], outcomes: &[Outcome], converted: &[(usize, Converted)], output: &mut Output) {
    let count = |is_wanted: fn(&Outcome) -> bool| outcomes.iter().filter(|outcome| is_wanted(outcome)).count();
    let written = count(|outcome| matches!(outcome, Outcome::Written(_)));
    let in_step = count(|outcome| matches!(outcome, Outcome::InStep(_)));
    let failed = count(|outcome| matches!(outcome, Outcome::Failed(_)));
    let passed = count(|outcome| matches!(outcome, Outcome::Passed));
    let doubts: usize = converted.iter().map(|(_, made)| made.report.doubts()).sum();
    if args.is_json {
        let by_number: BTreeMap<usize, &Converted> = converted.iter().map(|(number, made)| (*number, made)).collect();
        let rows = found.iter().zip(outcomes).enumerate();
        let skills: Vec<Value> =
            rows.map(|(number, (one, outcome))| row(one, outcome, by_number.get(&number).copied())).collect();
        output.json(&json!({ "skills": skills, "summary": {
            "skills": found.len(), "written": written, "in_step": in_step, "failed": failed, "passed_over": passed,
            "needs_review": doubts,
        } }));
    }
    for (one, outcome) in found.iter().zip(outcomes) {
        if let Outcome::Failed(failure) = outcome {
            output.failure(&Failure {
                exit: failure.exit,
                code: failure.code.clone(),
                message: format!("{}: {}", one.shown, failure.message),
                hints: failure.hints.clone(),
                is_json: false,
                is_retriable: failure.is_retriable,
            });
        }
    }
    let mut words = vec![format!("{written} written"), format!("{in_step} in step and left alone")];
    if passed > 0 {
        words.push(format!("{passed} without a SKILL.md"));
    }
    words.extend([format!("{failed} failed"), format!("{doubts} values to review")]);
    output.say(&words.join(", "));
}

fn row(found: &Found, outcome: &Outcome, converted: Option<&Converted>) -> Value {
    let mut row = json!({ "skill": converted.map(Converted::name), "source": found.shown });
    let (status, out) = match outcome {
        Outcome::Written(path) => ("written", Some(path)),
        Outcome::InStep(path) => ("in_step", Some(path)),
        Outcome::Passed => ("passed_over", None),
        Outcome::Failed(_) => ("failed", None),
    };
    row["status"] = json!(status);
    if let Some(out) = out {
        row["out"] = json!(out.to_string_lossy());
    }
    if let Some(converted) = converted {
        let report = &converted.report;
        row["valid"] = json!(report.is_valid());
        row["version"] = report.finished.value["meta"]["version"].clone();
        row["items"] = json!(report.items.len());
        row["needs_review"] = json!(report.doubts());
        row["warnings"] = json!(report.warnings.len());
    }
    if let Outcome::Failed(failure) = outcome {
        row["error"] = json!({ "code": failure.code, "message": failure.message, "retriable": failure.is_retriable });
    }
    row
}

/// The file in a folder of many that belongs to a skill, wherever it lies there.
pub(super) fn target_in(folder: &Path, found: &Found, name: &str) -> PathBuf {
    let apart = in_folder(folder, &found.path, name, true);
    if apart.is_file() { apart } else { in_folder(folder, &found.path, name, false) }
}
