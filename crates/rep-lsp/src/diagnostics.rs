//! Findings as diagnostics of the protocol.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Bound;
use std::path::{Path, PathBuf};

use rep_check::{Finding, FindingLocation, Level, RelatedLocation};
use rep_model::{Skill, Span};
use serde_json::{Value, json};

use crate::bundle::{ParsedSkill, SkillBundle};
use crate::checkers::CheckerCache;
use crate::client::ClientFeatures;
use crate::file_uri::format_file_uri;
use crate::index::FolderIndex;
use crate::position::{LineIndex, LspPosition, PositionEncoding};
use crate::settings::BuiltinFindings;

/// The source of every diagnostic.
pub(crate) const SOURCE: &str = "repertoire";

/// The tag of text that does nothing.
const UNNECESSARY: u8 = 1;

/// The rules whose findings are about text that can be removed.
const UNNECESSARY_RULES: [&str; 2] = ["allow-unused", "allow-unknown"];

/// The rules whose findings VS Code reports itself.
const BUILTIN_RULES: [&str; 1] = ["link-target-missing"];

/// The text of a file and its lines, for converting places.
pub(crate) struct FileText<'a> {
    /// The text.
    pub text: Cow<'a, str>,
    /// The lines.
    pub lines: LineIndex,
}

impl<'a> FileText<'a> {
    /// Indexes a text.
    pub(crate) fn new(text: Cow<'a, str>) -> Self {
        let lines = LineIndex::new(&text);
        Self { text, lines }
    }

    /// Returns the text of a file of a skill. A file that is not text is empty.
    pub(crate) fn from_skill(skill: &'a Skill, file: &str) -> Self {
        let text = match skill.find_source(file) {
            Some(source) => Cow::Borrowed(source.text()),
            None => skill.tree.file_bytes(file).map(String::from_utf8_lossy).unwrap_or_default(),
        };
        Self::new(text)
    }

    /// Returns a span as a range of the protocol.
    pub(crate) fn range(&self, span: Span, encoding: PositionEncoding) -> Value {
        let start = self.lines.position_at(&self.text, span.start, encoding);
        let end = self.lines.position_at(&self.text, span.end.max(span.start), encoding);
        json!({ "start": start.to_json(), "end": end.to_json() })
    }
}

/// Converts the findings of one file.
pub(crate) struct DiagnosticWriter<'a> {
    /// What the client can do.
    pub features: &'a ClientFeatures,
    /// The workspace folder, which displayed paths are relative to.
    pub root: Option<&'a Path>,
}

impl DiagnosticWriter<'_> {
    /// Returns the diagnostics of one file, in the order of their places.
    pub(crate) fn write(&self, findings: &[(&ParsedSkill, &Finding)]) -> Vec<Value> {
        let mut texts: BTreeMap<(*const Skill, &str), FileText<'_>> = BTreeMap::new();
        let mut items: Vec<(LspPosition, &str, Value)> = Vec::new();
        for (parsed, finding) in findings {
            let file = finding.place.file.as_str();
            let key = (std::ptr::from_ref(&parsed.skill), file);
            let text = texts.entry(key).or_insert_with(|| FileText::from_skill(&parsed.skill, file));
            let start = text.lines.position_at(&text.text, finding.place.span.start, self.features.encoding);
            items.push((start, finding.rule.name, self.write_finding(finding, parsed, text)));
        }
        items.sort_by(|(start, rule, _), (other, other_rule, _)| (start, rule).cmp(&(other, other_rule)));
        items.into_iter().map(|(_, _, item)| item).collect()
    }

    fn write_finding(&self, finding: &Finding, parsed: &ParsedSkill, text: &FileText<'_>) -> Value {
        let mut item = json!({
            "range": text.range(finding.place.span, self.features.encoding),
            "severity": severity(finding.level),
            "code": finding.rule.name,
            "codeDescription": { "href": rule_page_uri(finding.rule.name) },
            "source": SOURCE,
            "message": describe_finding(finding),
        });
        if self.features.unnecessary_tag && UNNECESSARY_RULES.contains(&finding.rule.name) {
            item["tags"] = json!([UNNECESSARY]);
        }
        if self.features.related_information && !finding.related.is_empty() {
            let related: Vec<Value> = finding.related.iter().map(|other| self.write_related(other, parsed)).collect();
            item["relatedInformation"] = Value::Array(related);
        }
        item
    }

    fn write_related(&self, other: &RelatedLocation, parsed: &ParsedSkill) -> Value {
        let encoding = self.features.encoding;
        let own = parsed.skill.tree.display_path(&other.place.file) == other.place.display_path;
        let range = if own {
            FileText::from_skill(&parsed.skill, &other.place.file).range(other.place.span, encoding)
        } else {
            range_from_excerpt(&other.place, encoding)
        };
        let path = absolute_place(&other.place, self.root);
        json!({ "location": { "uri": format_file_uri(&path), "range": range }, "message": other.message })
    }
}

/// Returns the diagnostics of all files of a bundle that have any.
pub(crate) fn bundle_diagnostics(
    bundle: &SkillBundle,
    index: Option<&FolderIndex>,
    checkers: &CheckerCache,
    features: &ClientFeatures,
) -> BTreeMap<PathBuf, Vec<Value>> {
    let root = bundle.root.as_deref();
    let mut by_file = bundle.findings_by_file();
    for member in &bundle.members {
        let parsed = &member.parsed;
        let folder = parsed.folder();
        let from = (Bound::Included(folder), Bound::Unbounded);
        let all = index.map(|index| index.set_findings.range::<Path, _>(from)).into_iter().flatten();
        for (file, findings) in all.take_while(|(file, _)| file.starts_with(folder)) {
            let is_own = |finding: &&Finding| parsed.absolute_path(&finding.place.file) == *file;
            let own = findings.iter().filter(is_own).map(|finding| (&**parsed, finding));
            by_file.entry(file.clone()).or_default().extend(own);
        }
    }
    let is_quiet = checkers.settings_for(root).builtin == BuiltinFindings::Quiet;
    let is_shown = |finding: &Finding| !is_quiet || !BUILTIN_RULES.contains(&finding.rule.name);
    let writer = DiagnosticWriter { features, root };
    let write = |(file, mut findings): (PathBuf, Vec<(&ParsedSkill, &Finding)>)| {
        findings.retain(|(_, finding)| is_shown(finding));
        (file, writer.write(&findings))
    };
    by_file.into_iter().map(write).filter(|(_, items)| !items.is_empty()).collect()
}

/// Returns the message of a diagnostic: that of the finding, and how to resolve it.
pub(crate) fn describe_finding(finding: &Finding) -> String {
    if finding.help.is_empty() {
        return finding.message.clone();
    }
    format!("{}\nhelp: {}", finding.message, finding.help)
}

/// Returns the address of a rule's page.
pub(crate) fn rule_page_uri(rule: &str) -> String {
    format!("repertoire://rules/{rule}.md")
}

fn severity(level: Level) -> u8 {
    match level {
        Level::Error => 1,
        Level::Warning => 2,
        Level::Info => 3,
    }
}

/// Returns the absolute path of a place. Displayed paths are absolute, or relative to the workspace folder.
pub(crate) fn absolute_place(place: &FindingLocation, root: Option<&Path>) -> PathBuf {
    let shown = Path::new(&place.display_path);
    root.map_or_else(|| shown.to_owned(), |root| root.join(shown)).components().collect()
}

/// Returns the range of a place in a file that is not loaded, from the line that the place quotes.
pub(crate) fn range_from_excerpt(place: &FindingLocation, encoding: PositionEncoding) -> Value {
    let column = |column: usize| {
        let before = place.excerpt.chars().take((column - 1).saturating_sub(place.skipped_chars));
        place.skipped_chars + encoding.text_length(&before.collect::<String>())
    };
    let start = column(place.start.column);
    let end = if place.end.line == place.start.line { column(place.end.column) } else { start };
    let line = place.start.line - 1;
    json!({ "start": { "line": line, "character": start }, "end": { "line": line, "character": end } })
}

/// Returns an id that changes whenever the diagnostics change.
pub(crate) fn result_id(items: &[Value]) -> String {
    let mut hasher = DefaultHasher::new();
    Value::from(items.to_vec()).to_string().hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}
