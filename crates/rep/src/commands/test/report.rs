//! Prints test results for people, and computes the exit code.

use anstyle::{AnsiColor, Style};
use rep_check::render::escape_invisible;
use rep_runtime::skill_test::report::{TestReport, TestVerdict};
use rep_runtime::skill_test::run::{TestResult, TestStatus};

use crate::exit::Exit;
use crate::output::Output;

/// Renders a result: one line, followed by the reasons if it did not pass.
pub(super) fn render_result(row: &TestResult, output: &Output) -> String {
    let (colour, word) = match row.status {
        TestStatus::Pass => (AnsiColor::Green, "pass "),
        TestStatus::Fail => (AnsiColor::Red, "FAIL "),
        TestStatus::Error => (AnsiColor::Red, "ERROR"),
    };
    let word = output.style_text(colour.on_default().bold(), word);
    let name = if row.case.ends_with(&row.name) { "" } else { &row.name };
    let time = output.style_text(Style::new().dimmed(), &format!("({} ms)", row.duration_ms));
    let mut text = format!("{word} {}  {}  ", escape_invisible(&row.skill), escape_invisible(&row.case));
    if !name.is_empty() {
        text.push_str(&format!("{}  ", escape_invisible(name)));
    }
    text.push_str(&format!("{time}\n"));
    for line in row.detail_lines() {
        text.push_str(&format!("      {}\n", escape_invisible(&line)));
    }
    text
}

/// Prints the summary.
pub(super) fn print_summary(report: &TestReport, output: &mut Output) {
    let skills = match report.skills.len() {
        1 => "1 skill".to_owned(),
        count => format!("{count} skills"),
    };
    for (name, evals) in report.skills.iter().filter(|(_, evals)| *evals > 0) {
        output.print_message(&format!("`{name}` has {evals} evals, which need a model and were not run"));
    }
    if report.results.is_empty() && !report.is_interrupted {
        output.write_data(&format!("no tests in {skills}\n"));
        return;
    }
    let (passed, failed, errors) = (
        report.count_status(TestStatus::Pass),
        report.count_status(TestStatus::Fail),
        report.count_status(TestStatus::Error),
    );
    let colour = if failed + errors == 0 { AnsiColor::Green } else { AnsiColor::Red };
    let counts = format!("{passed} passed, {failed} failed, {errors} errors");
    let counts = output.style_text(colour.on_default().bold(), &counts);
    let end = if report.is_interrupted { ", interrupted" } else { "" };
    output.write_data(&format!("{counts} in {skills} ({} ms){end}\n", report.duration_ms));
}

/// Returns the exit code of a report.
pub(super) fn report_exit(report: &TestReport) -> Exit {
    match report.overall_verdict() {
        TestVerdict::Interrupted => Exit::Interrupted,
        TestVerdict::Refused => Exit::Refused,
        TestVerdict::Broken => Exit::Unable,
        TestVerdict::Failed => Exit::Findings,
        TestVerdict::Passed => Exit::Fine,
    }
}
