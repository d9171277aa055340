//! Renders JUnit XML: one suite for each file with findings, and one case for each finding. Errors and warnings are
//! failures; advice is a skipped case, which CI systems show without failing.

use super::{escape_invisible, relative_path};
use crate::report::ReportOverview;
use crate::{Finding, Level};

/// The cases of one file, until the file is complete.
#[derive(Default)]
pub(super) struct SuiteBuffer {
    path: String,
    cases: String,
    tests: usize,
    failures: usize,
    skipped: usize,
}

impl SuiteBuffer {
    /// Adds a case. Returns the suite of the previous file if this finding starts another one.
    pub(super) fn add_finding(&mut self, finding: &Finding, root: &str) -> String {
        let path = relative_path(&finding.place.display_path, root);
        let done = if self.path == path { String::new() } else { self.finish() };
        path.clone_into(&mut self.path);
        self.tests += 1;
        let place = &finding.place;
        let name = format!("{}:{}:{}", finding.rule.name, place.start.line, place.start.column);
        let head = format!("    <testcase name=\"{}\" classname=\"{}\">", escape_xml(&name), escape_xml(path));
        let message = escape_xml(&finding.message);
        let outcome = if finding.level == Level::Info {
            self.skipped += 1;
            format!("<skipped message=\"{message}\"/>")
        } else {
            self.failures += 1;
            let at = format!("{path}:{}:{}", place.start.line, place.start.column);
            let help = if finding.help.is_empty() { String::new() } else { format!("\nhelp: {}", finding.help) };
            let details = escape_xml(&format!("{at}{help}"));
            format!("<failure type=\"{}\" message=\"{message}\">{details}</failure>", finding.level.name())
        };
        self.cases.push_str(&format!("{head}{outcome}</testcase>\n"));
        done
    }

    /// Returns the suite of the last file.
    pub(super) fn finish(&mut self) -> String {
        let Self { path, cases, tests, failures, skipped } = std::mem::take(self);
        if tests == 0 {
            return String::new();
        }
        let counts = format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\"");
        format!("  <testsuite name=\"{}\" {counts}>\n{cases}  </testsuite>\n", escape_xml(&path))
    }
}

/// Renders the head of the document.
pub(super) fn render_start(overview: &ReportOverview) -> String {
    let summary = overview.summary;
    let failures = summary.errors + summary.warnings;
    let tests = (failures + summary.infos).max(1);
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"rep check\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\">\n"
    )
}

/// Renders the end of the document. A report without findings has one case that passed, because some CI systems refuse a
/// report without cases.
pub(super) fn render_end(overview: &ReportOverview) -> String {
    let summary = overview.summary;
    let mut out = String::new();
    if summary.errors + summary.warnings + summary.infos == 0 {
        out.push_str("  <testsuite name=\"rep check\" tests=\"1\" failures=\"0\" errors=\"0\" skipped=\"0\">\n");
        out.push_str(&format!(
            "    <testcase name=\"{} skills without findings\" classname=\"rep check\"/>\n  </testsuite>\n",
            summary.skills
        ));
    }
    out + "</testsuites>\n"
}

/// Escapes text for an attribute or an element. Characters that XML 1.0 cannot contain are written as escapes.
fn escape_xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (number, line) in text.split('\n').enumerate() {
        if number > 0 {
            out.push_str("&#10;");
        }
        for letter in escape_invisible(line).chars() {
            match letter {
                '&' => out.push_str("&amp;"),
                '<' => out.push_str("&lt;"),
                '>' => out.push_str("&gt;"),
                '"' => out.push_str("&quot;"),
                '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
                other => out.push(other),
            }
        }
    }
    out
}
