//! How loading treats violations that a skill's dialect calls hard.
//!
//! `rep_check::loading` decides which violations these are. A skill with one is [`crate::SkillStatus::Invalid`]: it is
//! listed with its violations, and never disclosed, queried or run. A skill is checked again when it is used, because a
//! catalog reads only the SKILL.md of a directory, and files can change.

use rep_check::loading::{check_loading, is_dialect_violation, is_version_mismatch};
use rep_check::{Finding, Level};
use rep_model::uasp::FILE_SUFFIX;
use rep_model::{Fault, Position, Skill};
use serde_json::{Value, json};

/// Whether a violation that the dialect calls hard makes a skill invalid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ValidationMode {
    /// It does, as the dialects demand.
    #[default]
    Enforced,
    /// It does not: the violations are only reported. Intended for authors.
    Lenient,
}

/// The maximum number of violations that an error describes. Its details contain all of them.
pub const VIOLATIONS_SHOWN_MAX: usize = 5;

/// Describes the violations of an invalid skill, and what to do.
pub fn describe_violations(name: &str, violations: &[SkillViolation]) -> Vec<String> {
    let mut lines: Vec<String> = violations.iter().take(VIOLATIONS_SHOWN_MAX).map(SkillViolation::to_line).collect();
    let more = violations.len().saturating_sub(VIOLATIONS_SHOWN_MAX);
    if more > 0 {
        lines.push(format!("{more} more violations"));
    }
    lines.push(format!("fix `{name}`; `rep check` explains each violation, and `--lenient` loads it anyway"));
    lines
}

/// A violation that loading found, with its location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillViolation {
    /// The name of the rule.
    pub rule: &'static str,
    /// The level: an error makes the skill invalid.
    pub level: Level,
    /// The message.
    pub message: String,
    /// The path of the file, as shown to users of this machine.
    pub file: String,
    /// The path of the file in the skill.
    pub skill_file: String,
    /// The start, counted from line 1 and column 1.
    pub start: Position,
    /// The end.
    pub end: Position,
    /// The data path of the value, such as `commands.open.syntax`.
    pub data_path: Option<String>,
    /// What to do about it.
    pub help: String,
    /// Whether `rep check --fix` can fix it.
    pub is_fixable: bool,
}

impl SkillViolation {
    /// Returns a finding as a violation.
    pub fn from_finding(finding: &Finding) -> Self {
        Self {
            rule: finding.rule.name,
            level: finding.level,
            message: finding.message.clone(),
            file: finding.place.display_path.clone(),
            skill_file: finding.place.file.clone(),
            start: finding.place.start,
            end: finding.place.end,
            data_path: finding.data_path.clone(),
            help: finding.help.clone(),
            is_fixable: finding.has_safe_fix(),
        }
    }

    /// Returns the location, the data path and the message on one line.
    pub fn to_line(&self) -> String {
        let at = self
            .data_path
            .as_ref()
            .filter(|path| !self.message.contains(path.as_str()))
            .map(|path| format!("`{path}`: "));
        format!("{}:{}: {}{}", self.file, self.start.line, at.unwrap_or_default(), self.message)
    }

    /// Renders the violation as a finding: one of the `details` of `VALIDATION_FAILED` (UASP §9.6).
    pub fn to_json(&self) -> Value {
        let mut value = json!({
            "rule": self.rule,
            "level": self.level.name(),
            "message": self.message,
            "file": self.file,
            "line": self.start.line,
            "column": self.start.column,
            "end_line": self.end.line,
            "end_column": self.end.column,
            "help": self.help,
            "fix": self.is_fixable,
        });
        if let Some(path) = &self.data_path {
            value["at"] = json!(path);
        }
        value
    }
}

/// The message of `VALIDATION_FAILED`, in the words of UASP §9.6.
pub const VALIDATION_FAILED_MESSAGE: &str = "Skill definition failed schema validation";

/// What loading finds in a skill whose main files were all read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkillValidation {
    /// The violations for which the skill must not be used.
    pub violations: Vec<SkillViolation>,
    /// Declared versions that are not the hash of the content.
    pub version_warnings: Vec<SkillViolation>,
}

/// Validates a skill before it is used: violations that its dialect calls hard, and anything that makes a UASP file
/// next to a SKILL.md unusable.
pub fn validate_skill(skill: &Skill, faults: Vec<Fault>) -> SkillValidation {
    let findings = check_loading(skill, faults);
    let is_hard = |finding: &&Finding| {
        is_dialect_violation(finding) || finding.level == Level::Error && finding.place.file.ends_with(FILE_SUFFIX)
    };
    SkillValidation {
        violations: findings.iter().filter(is_hard).map(SkillViolation::from_finding).collect(),
        version_warnings: list_version_warnings(&findings),
    }
}

/// Returns the findings about declared versions that are not the hash of the content.
pub fn list_version_warnings(findings: &[Finding]) -> Vec<SkillViolation> {
    findings.iter().filter(|finding| is_version_mismatch(finding)).map(SkillViolation::from_finding).collect()
}
