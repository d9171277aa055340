//! Findings as rules report them, before the engine decides their level.

use std::cell::OnceCell;

use rep_model::{Manifest, Position, Skill, Span};

use crate::fix::{FindingFix, FixEdit};
use crate::profile::ALL;
use crate::report::{Finding, RelatedLocation, SkillLocator};
use crate::value_schema::{self, ValueViolation};
use crate::{Level, LintRule, ProfileSet};

/// A finding before its level is decided.
pub struct FindingDraft {
    file: String,
    span: Span,
    message: String,
    help: String,
    data_path: Option<String>,
    related: Vec<(String, Span, String)>,
    fix: Option<FindingFix>,
    pub(crate) profiles: ProfileSet,
    pub(crate) detected: DetectedLevel,
    is_concealed: bool,
}

/// The level of a finding if the profile was detected from the file rather than selected by the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DetectedLevel {
    /// The level that the rule declares.
    AsRule,
    /// This level.
    Level(Level),
    /// The finding is not reported: most public skills do this, or a host documents it.
    Unreported,
}

impl FindingDraft {
    /// Creates a finding about a span of a file.
    pub(crate) fn new(file: &str, span: Span, message: impl Into<String>) -> Self {
        Self {
            file: file.to_owned(),
            span,
            message: message.into(),
            help: String::new(),
            data_path: None,
            related: Vec::new(),
            fix: None,
            profiles: ALL,
            detected: DetectedLevel::AsRule,
            is_concealed: false,
        }
    }

    /// Sets the help text.
    pub fn help(&mut self, help: impl Into<String>) -> &mut Self {
        self.help = help.into();
        self
    }

    /// Sets the data path.
    pub fn with_data_path(&mut self, path: impl Into<String>) -> &mut Self {
        self.data_path = Some(path.into());
        self
    }

    /// Adds another place of the same file or skill that the finding is about.
    pub fn with_related(&mut self, file: &str, span: Span, message: impl Into<String>) -> &mut Self {
        self.related.push((file.to_owned(), span, message.into()));
        self
    }

    /// Sets the fix.
    pub fn with_fix(&mut self, fix: FindingFix) -> &mut Self {
        self.fix = Some(fix);
        self
    }

    /// Sets a fix that replaces a span of the finding's file and does not change the meaning. The help is its title.
    pub fn with_replacement(&mut self, span: Span, replacement: impl Into<String>) -> &mut Self {
        self.fix = Some(FindingFix::safe("").replace(&self.file, span, replacement));
        self
    }

    /// Sets the fix, if there is one.
    pub fn with_optional_fix(&mut self, fix: Option<FindingFix>) -> &mut Self {
        self.fix = fix;
        self
    }

    /// Sets a fix that replaces a span of the finding's file and that the author must agree to.
    pub fn with_suggestion(
        &mut self,
        title: impl Into<String>,
        span: Span,
        replacement: impl Into<String>,
    ) -> &mut Self {
        self.fix = Some(FindingFix::suggestion(title).replace(&self.file, span, replacement));
        self
    }

    /// Omits the source text from the report, because others must not read it.
    pub fn hide_excerpt(&mut self) -> &mut Self {
        self.is_concealed = true;
        self
    }

    /// Restricts the finding to some of the rule's profiles.
    pub fn only_for_profiles(&mut self, profiles: ProfileSet) -> &mut Self {
        self.profiles = profiles;
        self
    }

    /// Sets the level for the case that the profile was detected from the file.
    pub fn level_when_detected(&mut self, level: Level) -> &mut Self {
        self.detected = DetectedLevel::Level(level);
        self
    }

    /// Reports the finding only if the user selected the profile.
    pub fn only_when_selected(&mut self) -> &mut Self {
        self.detected = DetectedLevel::Unreported;
        self
    }

    /// Computes the locations, and turns the draft into a finding.
    pub(crate) fn into_finding(self, locator: &SkillLocator<'_>, rule: &'static LintRule, level: Level) -> Finding {
        let mut place = locator.locate(&self.file, self.span);
        if self.is_concealed {
            place.excerpt.clear();
        }
        let related = |(file, span, message): (String, Span, String)| RelatedLocation {
            place: locator.locate(&file, span),
            message,
        };
        let mut fix = self.fix.filter(|fix| !fix.files().any(|file| is_frozen(locator.skill, file)));
        if let Some(fix) = fix.as_mut().filter(|fix| fix.title.is_empty()) {
            fix.title.clone_from(&self.help);
        }
        let fix_regions = fix.as_ref().map(|fix| locate_edits(locator, fix)).unwrap_or_default();
        Finding {
            rule,
            level,
            message: self.message,
            place,
            data_path: self.data_path,
            help: self.help,
            related: self.related.into_iter().map(related).collect(),
            fix,
            fix_regions,
        }
    }
}

/// Returns the lines and columns that the replacements of a fix change.
fn locate_edits(locator: &SkillLocator<'_>, fix: &FindingFix) -> Vec<(Position, Position)> {
    let locate = |edit: &FixEdit| match edit {
        FixEdit::Replace { file, edit } => {
            let place = locator.locate(file, edit.span);
            (place.start, place.end)
        }
        FixEdit::Rename { .. } => (Position { line: 1, column: 1 }, Position { line: 1, column: 1 }),
    };
    fix.edits.iter().map(locate).collect()
}

/// Whether a file must not be edited, because its text or its structure was guessed.
fn is_frozen(skill: &Skill, file: &str) -> bool {
    let is_guess = |manifest: &Manifest| manifest.file == file && (manifest.is_lossy || manifest.is_guessed);
    skill.manifest.as_ref().is_some_and(is_guess)
}

/// The maximum number of findings of one rule in one skill, so that a hostile file cannot produce a huge report.
const FINDINGS_MAX: usize = 200;

/// Collects the findings of a rule.
pub struct Findings<'a> {
    drafts: Vec<FindingDraft>,
    strict_schema: bool,
    seed_regex: bool,
    violations: &'a OnceCell<Vec<ValueViolation>>,
}

impl<'a> Findings<'a> {
    pub(crate) fn new(strict_schema: bool, seed_regex: bool, violations: &'a OnceCell<Vec<ValueViolation>>) -> Self {
        Self { drafts: Vec::new(), strict_schema, seed_regex, violations }
    }

    /// Adds a finding about a span of a file. The path is relative to the skill; an empty path means the whole skill.
    pub fn add(&mut self, file: &str, span: Span, message: impl Into<String>) -> &mut FindingDraft {
        self.drafts.push(FindingDraft::new(file, span, message));
        self.drafts.last_mut().expect("a draft was just pushed")
    }

    /// Whether the printed UASP schema is taken literally.
    pub fn is_strict_schema(&self) -> bool {
        self.strict_schema
    }

    /// Whether versions are checked with the printed patterns.
    pub fn wants_seed_regex(&self) -> bool {
        self.seed_regex
    }

    /// Returns the values that violate the schemas of the skill's dialects. Computed once per skill.
    pub(crate) fn find_value_violations(&self, skill: &Skill) -> Vec<ValueViolation> {
        self.violations.get_or_init(|| value_schema::find_value_violations(skill, self.strict_schema)).clone()
    }

    /// Returns the first findings. The last one says how many were dropped.
    pub(crate) fn into_drafts(mut self) -> Vec<FindingDraft> {
        let more = self.drafts.len().saturating_sub(FINDINGS_MAX);
        self.drafts.truncate(FINDINGS_MAX);
        if let Some(last) = self.drafts.last_mut().filter(|_| more > 0) {
            last.help = format!("{} (and {more} more like this one)", last.help);
        }
        self.drafts
    }
}
