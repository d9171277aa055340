//! What tests came to, for people, and the exit code.

use anstyle::{AnsiColor, Style};
use rep_check::render::visible;
use rep_runtime::trial::report::{TestReport, TestVerdict};
use rep_runtime::trial::run::{TestResult, TestStatus};

use crate::exit::Exit;
use crate::output::Output;

/// The row for people: one line, and below it why it did not pass.
pub(super) fn text(row: &TestResult, output: &Output) -> String {
    let (colour, word) = match row.status {
        TestStatus::Pass => (AnsiColor::Green, "pass "),
        TestStatus::Fail => (AnsiColor::Red, "FAIL "),
        TestStatus::Error => (AnsiColor::Red, "ERROR"),
    };
    let word = output.styled(colour.on_default().bold(), word);
    let name = if row.case.ends_with(&row.name) { "" } else { &row.name };
    let time = output.styled(Style::new().dimmed(), &format!("({} ms)", row.duration_ms));
    let mut text = format!("{word} {}  {}  ", visible(&row.skill), visible(&row.case));
    if !name.is_empty() {
        text.push_str(&format!("{}  ", visible(name)));
    }
    text.push_str(&format!("{time}\n"));
    for line in row.details() {
        text.push_str(&format!("      {}\n", visible(&line)));
    }
    text
}

/// The last line for people.
pub(super) fn sum_up(report: &TestReport, output: &mut Output) {
    let skills = match report.skills.len() {
        1 => "1 skill".to_owned(),
        count => format!("{count} skills"),
    };
    for (name, evals) in report.skills.iter().filter(|(_, evals)| *evals > 0) {
        output.say(&format!("`{name}` has {evals} evals, which need a model and were not run"));
    }
    if report.results.is_empty() && !report.is_interrupted {
        output.data(&format!("no tests in {skills}\n"));
        return;
    }
    let (passed, failed, errors) =
        (report.count(TestStatus::Pass), report.count(TestStatus::Fail), report.count(TestStatus::Error));
    let colour = if failed + errors == 0 { AnsiColor::Green } else { AnsiColor::Red };
    let counts = format!("{passed} passed, {failed} failed, {errors} errors");
    let counts = output.styled(colour.on_default().bold(), &counts);
    let end = if report.is_interrupted { ", interrupted" } else { "" };
    output.data(&format!("{counts} in {skills} ({} ms){end}\n", report.duration_ms));
}

/// The exit code of a report.
pub(super) fn exit(report: &TestReport) -> Exit {
    match report.verdict() {
        TestVerdict::Interrupted => Exit::Interrupted,
        TestVerdict::Refused => Exit::Refused,
        TestVerdict::Broken => Exit::Unable,
        TestVerdict::Failed => Exit::Findings,
        TestVerdict::Passed => Exit::Fine,
    }
}
