//! `--checklist`: fills in the Universal 2.1 checklists for each skill.

use std::path::PathBuf;

use anstyle::AnsiColor;
use rep_check::checklist::SkillChecklistPoint;
use rep_library::check::fill_checklists;
use serde_json::json;

use super::CheckReportFormat;
use crate::exit::{Exit, Failure};
use crate::output::Output;

/// Prints the filled-in checklists. Exits as a check does: with findings if a point fails.
pub(super) fn print_checklists(
    paths: &[PathBuf],
    format: CheckReportFormat,
    output: &mut Output,
) -> Result<Exit, Failure> {
    let (skills, notes) = fill_checklists(paths)?;
    output.warn_all(&notes);
    let is_all_fine = skills.iter().all(|skill| skill.points.iter().all(|point| point.failing_rules.is_empty()));
    if format == CheckReportFormat::Json {
        let value = |point: &SkillChecklistPoint| json!({ "asks": point.question, "holds": point.failing_rules.is_empty(), "against": point.failing_rules });
        let all: Vec<serde_json::Value> = skills
            .iter()
            .map(|one| json!({ "skill": one.shown, "points": one.points.iter().map(value).collect::<Vec<_>>() }))
            .collect();
        output.write_json(&json!({ "checklists": all }));
    } else {
        for skill in &skills {
            let mut text = format!("{}\n", skill.shown);
            for point in &skill.points {
                text.push_str(&render_point(point, output));
            }
            output.write_data(&text);
        }
    }
    Ok(if is_all_fine { Exit::Fine } else { Exit::Findings })
}

fn render_point(point: &SkillChecklistPoint, output: &Output) -> String {
    if point.failing_rules.is_empty() {
        return format!("  {} {}\n", output.style_text(AnsiColor::Green.on_default(), "[x]"), point.question);
    }
    let open = output.style_text(AnsiColor::Red.on_default(), "[ ]");
    format!("  {open} {} ({})\n", point.question, point.failing_rules.join(", "))
}
