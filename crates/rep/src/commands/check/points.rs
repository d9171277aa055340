//! `--checklist`: the checklists of Universal 2.1 filled in for each skill.

use std::path::PathBuf;

use anstyle::AnsiColor;
use indicatif::ProgressBar;
use rep_check::checklist::{Point, checklist};
use serde_json::json;

use super::{Format, run};
use crate::exit::{Exit, Failure};
use crate::output::Output;

/// Prints the filled-in checklists. Exits as a check does: with findings where a point does not hold.
pub(super) fn print(paths: &[PathBuf], format: Format, output: &mut Output) -> Result<Exit, Failure> {
    let work = |found: &rep_library::find::Found| {
        let (skill, faults) = run::parse(found);
        (found.shown.clone(), checklist(&skill, &faults))
    };
    let mut skills = run::on_all_cores(paths, &ProgressBar::hidden(), work, output)?;
    skills.sort_by(|one, two| one.0.cmp(&two.0));
    let is_all_fine = skills.iter().all(|(_, points)| points.iter().all(|point| point.against.is_empty()));
    if format == Format::Json {
        let value =
            |point: &Point| json!({ "asks": point.asks, "holds": point.against.is_empty(), "against": point.against });
        let all: Vec<serde_json::Value> = skills
            .iter()
            .map(|(skill, points)| json!({ "skill": skill, "points": points.iter().map(value).collect::<Vec<_>>() }))
            .collect();
        output.json(&json!({ "checklists": all }));
    } else {
        for (skill, points) in &skills {
            let mut text = format!("{skill}\n");
            for point in points {
                text.push_str(&line(point, output));
            }
            output.data(&text);
        }
    }
    Ok(if is_all_fine { Exit::Fine } else { Exit::Findings })
}

fn line(point: &Point, output: &Output) -> String {
    if point.against.is_empty() {
        return format!("  {} {}\n", output.styled(AnsiColor::Green.on_default(), "[x]"), point.asks);
    }
    let open = output.styled(AnsiColor::Red.on_default(), "[ ]");
    format!("  {open} {} ({})\n", point.asks, point.against.join(", "))
}
