//! Renders findings: as text, as JSON, and in the formats of code scanning and of CI systems.
//!
//! A report is rendered finding by finding, so that the report of a large library never exists as a whole. Everything
//! that a format states before the first finding comes from a [`ReportOverview`].

mod concise;
mod github;
mod gitlab;
mod json;
mod junit;
mod sarif;
mod text;

pub use json::{check_document, json_check_finding, json_finding};
pub use text::{ColourMode, render_concise};

use crate::report::{Finding, ReportOverview};
use crate::{CheckReport, Level};

/// The formats of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportFormat {
    /// For people, with the source line.
    Text,
    /// Like text, but errors only, and nothing if there are none.
    ErrorText,
    /// One line for each finding.
    Concise,
    /// How many findings each rule has.
    Statistics,
    /// One JSON document.
    Json,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
    /// GitHub workflow commands.
    Github,
    /// JUnit XML.
    Junit,
    /// A GitLab code quality report.
    Gitlab,
}

/// Renders a report from its findings, which are passed in their order.
pub struct ReportRenderer<'a> {
    format: ReportFormat,
    paint: ColourMode,
    overview: &'a ReportOverview,
    /// The directory that paths in reports for machines are relative to, with a slash at the end.
    root: String,
    /// The number of rendered findings.
    count: usize,
    fingerprints: FingerprintCounter,
    suites: junit::SuiteBuffer,
    notes: text::NoteLimit,
}

impl<'a> ReportRenderer<'a> {
    /// Creates a renderer. `root` is the directory that paths in reports for machines are relative to.
    pub fn new(format: ReportFormat, paint: ColourMode, overview: &'a ReportOverview, root: &str) -> Self {
        let root = if root.is_empty() { String::new() } else { format!("{}/", root.trim_end_matches('/')) };
        let (fingerprints, suites) = (FingerprintCounter::default(), junit::SuiteBuffer::default());
        Self { format, paint, overview, root, count: 0, fingerprints, suites, notes: text::NoteLimit::default() }
    }

    /// Returns what precedes the findings.
    pub fn render_start(&self) -> String {
        match self.format {
            ReportFormat::Text
            | ReportFormat::ErrorText
            | ReportFormat::Concise
            | ReportFormat::Statistics
            | ReportFormat::Github => String::new(),
            ReportFormat::Json => json::render_start(),
            ReportFormat::Sarif => sarif::render_start(self.overview),
            ReportFormat::Junit => junit::render_start(self.overview),
            ReportFormat::Gitlab => "[".to_owned(),
        }
    }

    /// Returns the text of the next finding.
    pub fn render_finding(&mut self, finding: &Finding) -> String {
        let is_first = self.count == 0;
        let mut text = match self.format {
            ReportFormat::Text if !self.notes.admits(finding, self.overview) => return String::new(),
            ReportFormat::Text => text::render_finding(finding, self.paint) + "\n",
            ReportFormat::ErrorText if finding.level != Level::Error => return String::new(),
            ReportFormat::ErrorText if is_first => text::render_finding(finding, self.paint),
            ReportFormat::ErrorText => format!("\n{}", text::render_finding(finding, self.paint)),
            ReportFormat::Concise => concise::render_finding(finding, self.paint),
            ReportFormat::Statistics => String::new(),
            ReportFormat::Json => indent_item(&json::json_check_finding(finding), 4),
            ReportFormat::Sarif => {
                let path = relative_path(&finding.place.display_path, &self.root);
                let fingerprint = self.fingerprints.describe(finding, path);
                indent_item(&sarif::describe_finding(finding, self.overview, &self.root, &fingerprint), 8)
            }
            ReportFormat::Github => github::render_finding(finding, &self.root),
            ReportFormat::Junit => self.suites.add_finding(finding, &self.root),
            ReportFormat::Gitlab => {
                let path = relative_path(&finding.place.display_path, &self.root);
                let fingerprint = self.fingerprints.describe(finding, path);
                indent_item(&gitlab::describe_finding(finding, path, &fingerprint), 2)
            }
        };
        if !is_first && matches!(self.format, ReportFormat::Json | ReportFormat::Sarif | ReportFormat::Gitlab) {
            text.insert(0, ',');
        }
        self.count += 1;
        text
    }

    /// Returns what follows the findings.
    pub fn render_end(&mut self) -> String {
        match self.format {
            ReportFormat::Text => {
                self.notes.render(self.overview, self.paint) + &text::render_summary(self.overview.summary, self.paint)
            }
            ReportFormat::ErrorText | ReportFormat::Github | ReportFormat::Concise => String::new(),
            ReportFormat::Statistics => text::render_statistics(self.overview, self.paint),
            ReportFormat::Json => json::render_end(self.overview, self.count == 0),
            ReportFormat::Sarif => sarif::render_end(self.overview, self.count == 0),
            ReportFormat::Junit => self.suites.finish() + &junit::render_end(self.overview),
            ReportFormat::Gitlab if self.count == 0 => "]\n".to_owned(),
            ReportFormat::Gitlab => "\n]\n".to_owned(),
        }
    }
}

/// Renders a whole report.
pub fn render_report(report: &CheckReport, format: ReportFormat, paint: ColourMode) -> String {
    let overview = ReportOverview::from_report(report);
    let mut renderer = ReportRenderer::new(format, paint, &overview, "");
    let mut out = renderer.render_start();
    for finding in &report.findings {
        out.push_str(&renderer.render_finding(finding));
    }
    out + &renderer.render_end()
}

/// Renders a JSON value as an item of a list, on lines of its own.
fn indent_item(value: &serde_json::Value, indent: usize) -> String {
    let pad = " ".repeat(indent);
    format!("{value:#}").lines().map(|line| format!("\n{pad}{line}")).collect()
}

/// Returns a path relative to the root, if it is below it.
fn relative_path<'a>(path: &'a str, root: &str) -> &'a str {
    path.strip_prefix(root).filter(|rest| !rest.is_empty()).unwrap_or(path)
}

/// Distinguishes findings of one file that have the same fingerprint.
#[derive(Default)]
struct FingerprintCounter {
    file: String,
    seen: std::collections::BTreeMap<u64, usize>,
}

impl FingerprintCounter {
    /// Returns the fingerprint of a finding and how often it occurred in the file so far.
    fn describe(&mut self, finding: &Finding, path: &str) -> String {
        if self.file != path {
            path.clone_into(&mut self.file);
            self.seen.clear();
        }
        let fingerprint = finding.fingerprint(path);
        let count = self.seen.entry(fingerprint).or_default();
        *count += 1;
        format!("{fingerprint:016x}:{count}")
    }
}

/// Escapes control characters, and characters that reorder or hide text, so that the text cannot control a terminal or
/// forge a line.
pub fn escape_invisible(text: &str) -> std::borrow::Cow<'_, str> {
    let is_odd = |letter: char| letter.is_control() || crate::hidden_text::is_hidden_character(letter);
    if !text.chars().any(is_odd) {
        return text.into();
    }
    text.chars()
        .map(|letter| if is_odd(letter) { letter.escape_unicode().to_string() } else { letter.to_string() })
        .collect()
}
