//! Finds, reads and judges skills on all cores.

use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rep_check::{Options, Report, Rulebook, SkillReport};
use rep_model::{Fault, FaultKind, Skill, SkillTree};

use crate::exit::Failure;
use crate::output::Output;
use rep_library::find::{self, Found};
use rep_library::read::{self, Extent};

/// Checks every skill below the paths.
pub(super) fn check(paths: &[PathBuf], options: &Options, output: &mut Output) -> Result<Report, Failure> {
    let bar = progress(output);
    let rulebook = Rulebook::new(options.clone());
    let judged = on_all_cores(paths, &bar, |found| judge(found, &rulebook), output)?;
    bar.finish_and_clear();
    let mut reports: Vec<(Found, SkillReport)> = judged.into_iter().flatten().collect();
    reports.sort_by(|(one, _), (two, _)| one.cmp(two));
    reports.dedup_by(|(one, _), (two, _)| one.path == two.path);
    let mut report = Report { skills: reports.len(), ..Report::default() };
    let mut facts = Vec::with_capacity(reports.len());
    for (_, skill) in reports {
        report.findings.extend(skill.findings);
        facts.push(skill.facts);
    }
    report.findings.extend(rep_check::check_set(&facts, options));
    report.sort();
    Ok(report)
}

/// Judges a skill, and the skills inside it.
fn judge(found: &Found, rulebook: &Rulebook) -> Vec<(Found, SkillReport)> {
    let (skill, faults) = parse(found);
    let inside = find::nested(found, &skill.tree);
    let mut reports = vec![(found.clone(), rulebook.check(&skill, faults))];
    for found in inside {
        let (skill, faults) = parse(&found);
        reports.push((found, rulebook.check(&skill, faults)));
    }
    reports
}

/// Reads and parses a skill. A folder that cannot be opened is a skill with that fault.
pub(super) fn parse(found: &Found) -> (Skill, Vec<Fault>) {
    let read = if found.is_lone_file {
        Ok(read::lone_file(&found.path, &found.shown))
    } else {
        read::folder(&found.path, &found.shown, Extent::Folder)
    };
    match read {
        Ok(tree) => Skill::parse(tree),
        Err(error) => {
            let tree = SkillTree {
                shown: found.shown.clone(),
                folder: read::folder_name(&found.path),
                is_lone_file: true,
                ..SkillTree::default()
            };
            let (skill, mut faults) = Skill::parse(tree);
            let help = "make the folder readable";
            faults.push(Fault::new(FaultKind::FileUnreadable, "", rep_model::Span::default(), error.to_string(), help));
            (skill, faults)
        }
    }
}

/// Walks the paths while as many workers as there are cores handle what is found.
pub(super) fn on_all_cores<T: Send>(
    paths: &[PathBuf],
    bar: &ProgressBar,
    work: impl Fn(&Found) -> T + Sync,
    output: &mut Output,
) -> Result<Vec<T>, Failure> {
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let (sender, receiver) = channel::<Found>();
    let receiver = Mutex::new(receiver);
    let mut outcome: Result<Vec<String>, Failure> = Ok(Vec::new());
    let results = thread::scope(|scope| {
        let handles: Vec<_> = (0..workers).map(|_| scope.spawn(|| drain(&receiver, bar, &work))).collect();
        let mut seen = std::collections::BTreeSet::new();
        for path in paths {
            let walked = find::skills(path, |found| {
                // The same folder may be named twice, in two ways.
                let real = || std::fs::canonicalize(&found.path).unwrap_or_else(|_| found.path.clone());
                if paths.len() > 1 && !seen.insert(real()) {
                    return;
                }
                bar.inc_length(1);
                // The workers outlive this loop, so somebody always listens.
                let _ = sender.send(found);
            });
            match (walked, &mut outcome) {
                (Ok(left_out), Ok(all)) => all.extend(left_out),
                (Err(failure), _) => {
                    outcome = Err(failure.into());
                    break;
                }
                (Ok(_), Err(_)) => {}
            }
        }
        drop(sender);
        let mut results = Vec::new();
        for handle in handles {
            match handle.join() {
                Ok(part) => results.extend(part),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        results
    });
    for text in outcome? {
        output.warn(&text);
    }
    Ok(results)
}

fn drain<T>(receiver: &Mutex<Receiver<Found>>, bar: &ProgressBar, work: &impl Fn(&Found) -> T) -> Vec<T> {
    let mut results = Vec::new();
    loop {
        let next = receiver.lock().unwrap_or_else(std::sync::PoisonError::into_inner).recv();
        let Ok(found) = next else { return results };
        results.push(work(&found));
        bar.inc(1);
    }
}

fn progress(output: &Output) -> ProgressBar {
    if !output.is_watched() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr_with_hz(10));
    let style = ProgressStyle::with_template("checking {bar:30} {pos}/{len} skills")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.set_style(style);
    bar
}
