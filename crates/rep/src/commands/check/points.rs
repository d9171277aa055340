//! `--checklist`: the checklists of Universal 2.1 filled in for each skill.

use std::path::PathBuf;

use anstyle::AnsiColor;
use rep_check::checklist::Point;
use rep_library::check::fill_checklists;
use serde_json::json;

use super::Format;
use crate::exit::{Exit, Failure};
use crate::output::Output;

/// Prints the filled-in checklists. Exits as a check does: with findings where a point does not hold.
pub(super) fn print(paths: &[PathBuf], format: Format, output: &mut Output) -> Result<Exit, Failure> {
    let (skills, notes) = fill_checklists(paths)?;
    output.warn_all(&notes);
    let is_all_fine = skills.iter().all(|skill| skill.points.iter().all(|point| point.against.is_empty()));
    if format == Format::Json {
        let value =
            |point: &Point| json!({ "asks": point.asks, "holds": point.against.is_empty(), "against": point.against });
        let all: Vec<serde_json::Value> = skills
            .iter()
            .map(|one| json!({ "skill": one.shown, "points": one.points.iter().map(value).collect::<Vec<_>>() }))
            .collect();
        output.json(&json!({ "checklists": all }));
    } else {
        for skill in &skills {
            let mut text = format!("{}\n", skill.shown);
            for point in &skill.points {
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
