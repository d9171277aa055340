//! Results as `JUnit` XML, as build servers read it. Well-formed whatever a case wrote.

use rep_model::truncate::ellipsize;

use super::report::TestReport;
use super::run::{TestFault, TestResult, TestStatus};

/// How much of what a case said is kept.
const SAID_CHARS_MAX: usize = 64_000;

/// Renders a report as a whole document.
pub fn render(report: &TestReport) -> String {
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let all: Vec<&TestResult> = report.results.iter().collect();
    text.push_str(&format!("<testsuites name=\"rep test\"{}>\n", counts(&all)));
    // The results of one skill are neighbours.
    let mut skills: Vec<&str> = all.iter().map(|row| row.skill.as_str()).collect();
    skills.dedup();
    for skill in skills {
        let rows: Vec<&TestResult> = all.iter().copied().filter(|row| row.skill == skill).collect();
        text.push_str(&format!("  <testsuite name=\"{}\"{}>\n", escaped(skill), counts(&rows)));
        for row in &rows {
            text.push_str(&case(row));
        }
        text.push_str("  </testsuite>\n");
    }
    text.push_str("</testsuites>\n");
    text
}

fn counts(rows: &[&TestResult]) -> String {
    let count = |status: TestStatus| rows.iter().filter(|row| row.status == status).count();
    let (failures, errors) = (count(TestStatus::Fail), count(TestStatus::Error));
    let time = seconds(rows.iter().map(|row| row.duration_ms).sum());
    format!(" tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\" time=\"{time}\"", rows.len())
}

fn case(row: &TestResult) -> String {
    let (skill, name, time) = (escaped(&row.skill), escaped(&row.case), seconds(row.duration_ms));
    let open = format!("    <testcase classname=\"{skill}\" name=\"{name}\" time=\"{time}\"");
    let tag = match row.status {
        TestStatus::Pass => return format!("{open}/>\n"),
        TestStatus::Fail => "failure",
        TestStatus::Error => "error",
    };
    let message = escaped(&row.faults.first().map(TestFault::message).unwrap_or_default());
    let details = escaped(&row.details().join("\n"));
    let mut text = format!("{open}>\n      <{tag} message=\"{message}\">{details}</{tag}>\n");
    for (tag, said) in [("system-out", &row.said.stdout), ("system-err", &row.said.stderr)] {
        if !said.is_empty() {
            text.push_str(&format!("      <{tag}>{}</{tag}>\n", escaped(&ellipsize(said, SAID_CHARS_MAX))));
        }
    }
    text.push_str("    </testcase>\n");
    text
}

fn seconds(milliseconds: u64) -> String {
    format!("{}.{:03}", milliseconds / 1000, milliseconds % 1000)
}

/// A text in XML 1.0, which has no way at all to write most control characters.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' | '\r' => out.push_str(&format!("&#{};", u32::from(letter))),
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            letter => out.push(letter),
        }
    }
    out
}
