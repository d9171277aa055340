//! Renders results as `JUnit` XML for build servers. The XML is well-formed whatever a case printed.

use rep_model::truncate::truncate_with_ellipsis;

use super::report::TestReport;
use super::run::{TestFault, TestResult, TestStatus};

/// How much of a case's output is included.
const OUTPUT_CHARS_MAX: usize = 64_000;

/// Renders a report as a complete document.
pub fn render_report(report: &TestReport) -> String {
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let all: Vec<&TestResult> = report.results.iter().collect();
    text.push_str(&format!("<testsuites name=\"rep test\"{}>\n", render_counts(&all)));
    // The results of one skill are adjacent.
    let mut skills: Vec<&str> = all.iter().map(|row| row.skill.as_str()).collect();
    skills.dedup();
    for skill in skills {
        let rows: Vec<&TestResult> = all.iter().copied().filter(|row| row.skill == skill).collect();
        text.push_str(&format!("  <testsuite name=\"{}\"{}>\n", escape_xml(skill), render_counts(&rows)));
        for row in &rows {
            text.push_str(&render_case(row));
        }
        text.push_str("  </testsuite>\n");
    }
    text.push_str("</testsuites>\n");
    text
}

fn render_counts(rows: &[&TestResult]) -> String {
    let count = |status: TestStatus| rows.iter().filter(|row| row.status == status).count();
    let (failures, errors) = (count(TestStatus::Fail), count(TestStatus::Error));
    let time = format_seconds(rows.iter().map(|row| row.duration_ms).sum());
    format!(" tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\" time=\"{time}\"", rows.len())
}

fn render_case(row: &TestResult) -> String {
    let (skill, name, time) = (escape_xml(&row.skill), escape_xml(&row.case), format_seconds(row.duration_ms));
    let open = format!("    <testcase classname=\"{skill}\" name=\"{name}\" time=\"{time}\"");
    let tag = match row.status {
        TestStatus::Pass => return format!("{open}/>\n"),
        TestStatus::Fail => "failure",
        TestStatus::Error => "error",
    };
    let message = escape_xml(&row.faults.first().map(TestFault::message).unwrap_or_default());
    let details = escape_xml(&row.detail_lines().join("\n"));
    let mut text = format!("{open}>\n      <{tag} message=\"{message}\">{details}</{tag}>\n");
    for (tag, said) in [("system-out", &row.output.stdout), ("system-err", &row.output.stderr)] {
        if !said.is_empty() {
            text.push_str(&format!(
                "      <{tag}>{}</{tag}>\n",
                escape_xml(&truncate_with_ellipsis(said, OUTPUT_CHARS_MAX))
            ));
        }
    }
    text.push_str("    </testcase>\n");
    text
}

fn format_seconds(milliseconds: u64) -> String {
    format!("{}.{:03}", milliseconds / 1000, milliseconds % 1000)
}

/// Escapes a text for XML 1.0, which cannot express most control characters.
fn escape_xml(text: &str) -> String {
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
