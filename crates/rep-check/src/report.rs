//! The sorted findings of a check with their locations: the only input of every renderer.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use rep_model::{Position, Skill, SourceText, Span, SymlinkTarget, TreeEntry};

use crate::fix::{FindingFix, FixApplicability};
use crate::{Level, LintRule, Profile};

/// A location in a file, with line, column and excerpt.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FindingLocation {
    /// The path of the file as shown to the user.
    pub display_path: String,
    /// The path of the file relative to its skill.
    pub file: String,
    /// The start of the location.
    pub start: Position,
    /// The end of the location.
    pub end: Position,
    /// The line of the start, or the part of it around the start; empty if nothing can be shown.
    pub excerpt: String,
    /// The number of characters of the line that are omitted before the excerpt.
    pub skipped_chars: usize,
    /// The same location in bytes of the file's text. Empty and at the start for an entry without text.
    pub span: Span,
}

/// The maximum length of an excerpt, so that reports stay small.
const EXCERPT_CHARS_MAX: usize = 400;

impl FindingLocation {
    /// Returns the start of a file, or of an entry without text.
    pub(crate) fn file_start(display_path: String, file: &str) -> Self {
        let start = Position { line: 1, column: 1 };
        Self {
            display_path,
            file: file.to_owned(),
            start,
            end: start,
            excerpt: String::new(),
            skipped_chars: 0,
            span: Span::default(),
        }
    }

    /// Computes a location in a skill. To compute several, use a [`SkillLocator`].
    pub fn from_span(skill: &Skill, file: &str, span: Span) -> Self {
        SkillLocator::new(skill).locate(file, span)
    }
}

/// Computes locations in a skill. Each file is decoded and divided into lines once.
pub struct SkillLocator<'a> {
    pub(crate) skill: &'a Skill,
    /// The texts of files that were not parsed with the skill.
    decoded: RefCell<BTreeMap<String, Rc<SourceText>>>,
}

impl<'a> SkillLocator<'a> {
    /// Computes locations in this skill.
    pub fn new(skill: &'a Skill) -> Self {
        Self { skill, decoded: RefCell::default() }
    }

    /// Computes a location.
    pub fn locate(&self, file: &str, span: Span) -> FindingLocation {
        let shown = self.skill.tree.display_path(file);
        let decoded;
        let source = match self.skill.find_source(file) {
            Some(source) => source,
            None => match self.decode(file) {
                Some(source) => {
                    decoded = source;
                    &*decoded
                }
                None => return FindingLocation::file_start(shown, file),
            },
        };
        let (start, end) = (source.position_at(span.start), source.position_at(span.end.max(span.start)));
        let place = FindingLocation { start, end, span, ..FindingLocation::file_start(shown, file) };
        // The text of a link target outside the skill must not be shown.
        let entry = self.skill.tree.entries.get(file);
        if matches!(entry, Some(TreeEntry::Link { destination: SymlinkTarget::Outside, .. })) {
            return place;
        }
        let skipped = start.column.saturating_sub(EXCERPT_CHARS_MAX / 2);
        let excerpt = source.excerpt_at(span.start, start.column - 1 - skipped, EXCERPT_CHARS_MAX);
        FindingLocation { excerpt: excerpt.to_owned(), skipped_chars: skipped, ..place }
    }

    fn decode(&self, file: &str) -> Option<Rc<SourceText>> {
        if let Some(source) = self.decoded.borrow().get(file) {
            return Some(Rc::clone(source));
        }
        let text = String::from_utf8_lossy(self.skill.tree.file_bytes(file)?).into_owned();
        let source = Rc::new(SourceText::new(text));
        self.decoded.borrow_mut().insert(file.to_owned(), Rc::clone(&source));
        Some(source)
    }
}

impl FindingLocation {
    /// Returns the text that the location marks, as far as the excerpt shows it. An empty location marks nothing.
    fn quoted_text(&self) -> String {
        if self.span.start == self.span.end {
            return String::new();
        }
        let letters = self.excerpt.chars();
        let from = self.start.column.saturating_sub(1).saturating_sub(self.skipped_chars);
        if self.end.line == self.start.line {
            letters.skip(from).take(self.end.column.saturating_sub(self.start.column)).collect()
        } else {
            letters.skip(from).collect()
        }
    }
}

/// A hash that is the same in every version and on every machine: FNV-1a with a separator after each part.
struct StableHash {
    value: u64,
}

impl StableHash {
    fn new() -> Self {
        Self { value: 0xcbf2_9ce4_8422_2325 }
    }

    fn add(&mut self, part: &str) {
        for byte in part.bytes().chain([0xff]) {
            self.value = (self.value ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

/// A fault with its level, reported by a rule.
#[derive(Clone)]
pub struct Finding {
    /// The rule that reported it.
    pub rule: &'static LintRule,
    /// The level under the active profiles.
    pub level: Level,
    /// The message.
    pub message: String,
    /// The location.
    pub place: FindingLocation,
    /// The data path of the value, if there is one.
    pub data_path: Option<String>,
    /// The help text.
    pub help: String,
    /// Other places that it is about.
    pub related: Vec<RelatedLocation>,
    /// A change that resolves it.
    pub fix: Option<FindingFix>,
    /// Where the replacements of the fix are: a start and an end for each, in the order of its edits.
    pub fix_regions: Vec<(Position, Position)>,
}

/// Another place that a finding is about, and what is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelatedLocation {
    /// The location.
    pub place: FindingLocation,
    /// What is there, as one lower-case phrase.
    pub message: String,
}

impl Finding {
    /// Whether `rep check --fix` resolves the finding.
    pub fn has_safe_fix(&self) -> bool {
        self.fix.as_ref().is_some_and(|fix| fix.applicability == FixApplicability::Safe)
    }

    /// Returns a number that stays the same when the finding moves in its file, and changes with the text it is about.
    /// `file` is the path that identifies the file.
    ///
    /// Numbers in the message do not count, so that a file that is too long is the same finding when it grows.
    pub fn fingerprint(&self, file: &str) -> u64 {
        let mut hash = StableHash::new();
        hash.add(self.rule.name);
        hash.add(file);
        let is_number = |letter: char| letter.is_ascii_digit();
        for text in [self.data_path.as_deref().unwrap_or(""), &self.message] {
            text.split(is_number).filter(|part| !part.is_empty()).for_each(|part| hash.add(part));
        }
        self.place.quoted_text().split_whitespace().for_each(|word| hash.add(word));
        hash.value
    }

    pub(crate) fn sort_key(&self) -> (&FindingLocation, &str, &str) {
        (&self.place, self.rule.name, &self.message)
    }
}

/// The facts about a skill that rules over several skills need; small enough to keep for thousands of skills.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillFacts {
    /// The name and its location.
    pub name: Option<(String, FindingLocation)>,
    /// The location of the skill as a whole.
    pub place: FindingLocation,
    /// The ids of its dependencies and their locations.
    pub depends_on: Vec<(String, FindingLocation)>,
    /// Whether the skill has a SKILL.md.
    pub has_manifest: bool,
    /// The profiles it is checked under.
    pub profiles: Vec<Profile>,
}

/// Collects findings about several skills together.
#[derive(Default)]
pub struct SetFindings {
    pub(crate) drafts: Vec<SetFindingDraft>,
    /// The names of all checked skills, including those that the rule does not apply to.
    pub(crate) names: std::collections::BTreeSet<String>,
    /// The number of checked skills and of those beside them.
    pub(crate) skill_count: usize,
}

impl SetFindings {
    /// Whether a checked skill, or one beside the checked skills, has this name.
    pub fn has_skill_name(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// Returns the number of checked skills and of those beside them, including those that the rule does not apply to.
    pub fn skill_count(&self) -> usize {
        self.skill_count
    }

    /// Adds a finding at a location.
    pub fn add_finding(&mut self, place: &FindingLocation, message: String, help: &str) -> &mut SetFindingDraft {
        let (place, help) = (place.clone(), help.to_owned());
        self.drafts.push(SetFindingDraft { place, message, help, related: Vec::new() });
        self.drafts.last_mut().expect("a draft was just pushed")
    }
}

/// A finding about several skills before its level is decided.
pub struct SetFindingDraft {
    place: FindingLocation,
    message: String,
    help: String,
    related: Vec<RelatedLocation>,
}

impl SetFindingDraft {
    /// Adds another place that the finding is about.
    pub fn with_related(&mut self, place: &FindingLocation, message: impl Into<String>) -> &mut Self {
        self.related.push(RelatedLocation { place: place.clone(), message: message.into() });
        self
    }

    pub(crate) fn into_finding(self, rule: &'static LintRule, level: Level) -> Finding {
        let Self { place, message, help, related } = self;
        Finding { rule, level, message, place, data_path: None, help, related, fix: None, fix_regions: Vec::new() }
    }
}

/// The result of checking one skill.
pub struct SkillReport {
    /// The findings, sorted by file and location.
    pub findings: Vec<Finding>,
    /// The facts for rules over several skills.
    pub facts: SkillFacts,
}

/// The result of a check.
#[derive(Default)]
pub struct CheckReport {
    /// The findings, sorted by file and location.
    pub findings: Vec<Finding>,
    /// The number of checked skills.
    pub skills: usize,
}

/// The counts of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReportSummary {
    /// Checked skills.
    pub skills: usize,
    /// Errors.
    pub errors: usize,
    /// Warnings.
    pub warnings: usize,
    /// Notes.
    pub infos: usize,
    /// Findings that `--fix` can fix.
    pub fixable: usize,
}

impl ReportSummary {
    /// Counts one more finding.
    pub fn add(&mut self, finding: &Finding) {
        match finding.level {
            Level::Error => self.errors += 1,
            Level::Warning => self.warnings += 1,
            Level::Info => self.infos += 1,
        }
        self.fixable += usize::from(finding.has_safe_fix());
    }
}

impl CheckReport {
    /// Sorts the findings by file, location and rule, so that the same input gives the same report.
    pub fn sort_findings(&mut self) {
        sort_and_dedup(&mut self.findings);
    }

    /// Counts the findings per level.
    pub fn count_findings(&self) -> ReportSummary {
        let mut summary = ReportSummary { skills: self.skills, ..ReportSummary::default() };
        self.findings.iter().for_each(|finding| summary.add(finding));
        summary
    }
}

/// How many findings a rule has at a level.
#[derive(Clone)]
pub struct RuleCount {
    /// The rule.
    pub rule: &'static LintRule,
    /// The level.
    pub level: Level,
    /// The number of findings.
    pub count: usize,
    /// The number of those that `--fix` can fix.
    pub fixable: usize,
}

/// What a report states as a whole.
#[derive(Clone, Default)]
pub struct ReportOverview {
    /// The counts.
    pub summary: ReportSummary,
    /// The counts of each rule, sorted by name and level.
    pub rules: Vec<RuleCount>,
    /// Whether the counts of rules are part of the report.
    pub wants_statistics: bool,
    /// Whether text shows only the first notes of a rule that has many.
    pub is_shortened: bool,
}

impl ReportOverview {
    /// Counts the findings of a report.
    pub fn from_report(report: &CheckReport) -> Self {
        let mut overview = Self::default();
        overview.summary.skills = report.skills;
        report.findings.iter().for_each(|finding| overview.add(finding));
        overview
    }

    /// Returns the number of notes of a rule.
    pub(crate) fn count_notes(&self, rule: &str) -> usize {
        let row = self.rules.binary_search_by_key(&(rule, Level::Info), |row| (row.rule.name, row.level));
        row.map_or(0, |index| self.rules[index].count)
    }

    /// Counts one more finding.
    pub fn add(&mut self, finding: &Finding) {
        self.summary.add(finding);
        let key = (finding.rule.name, finding.level);
        let fixable = usize::from(finding.has_safe_fix());
        match self.rules.binary_search_by_key(&key, |row| (row.rule.name, row.level)) {
            Ok(index) => {
                self.rules[index].count += 1;
                self.rules[index].fixable += fixable;
            }
            Err(index) => {
                self.rules.insert(index, RuleCount { rule: finding.rule, level: finding.level, count: 1, fixable });
            }
        }
    }
}

/// Sorts findings and removes duplicates.
pub fn sort_and_dedup(findings: &mut Vec<Finding>) {
    findings.sort_by(|one, two| one.sort_key().cmp(&two.sort_key()));
    findings.dedup_by(|one, two| one.sort_key() == two.sort_key());
}
