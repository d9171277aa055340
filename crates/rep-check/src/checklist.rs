//! The two checklists of Universal 2.1, answered by the rules: eight points for every skill, and one for each host.

use crate::{CheckOptions, Level, Profile, check_skill};
use rep_model::{Fault, Skill};

/// One point of a checklist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkillChecklistPoint {
    /// The requirement.
    pub question: &'static str,
    /// The rules that found violations; empty if the requirement is met.
    pub failing_rules: Vec<&'static str>,
}

/// A requirement, the profile to check it under, and prefixes of the names of the rules that detect violations.
type ChecklistRow = (&'static str, Profile, &'static [&'static str]);

const CHECKLIST_ROWS: &[ChecklistRow] = &[
    (
        "SKILL.md is at the root and begins with frontmatter",
        Profile::Universal,
        &[
            "skill-md-",
            "frontmatter-missing",
            "frontmatter-unclosed",
            "frontmatter-not-mapping",
            "yaml-",
            "encoding-",
            "nul-byte",
            "file-",
        ],
    ),
    (
        "spec_version, name, description and version are present",
        Profile::Universal,
        &[
            "field-missing",
            "name-missing",
            "name-empty",
            "description-missing",
            "description-empty",
            "spec-version-invalid",
            "version-not-semver",
        ],
    ),
    (
        "skill and tool names follow the portable baseline",
        Profile::Universal,
        &["name-too-long", "name-uppercase", "name-characters", "name-not-ascii", "name-reserved-word", "tool-name-"],
    ),
    (
        "tool schemas are valid and accept an object",
        Profile::Universal,
        &["tool-schema-invalid", "tool-input-not-object"],
    ),
    ("object schemas are closed", Profile::Universal, &["tool-schema-open"]),
    ("permissions are declared and narrow", Profile::Universal, &["permission"]),
    ("safety declares redaction and confirmation", Profile::Universal, &["safety-", "redaction-", "confirmation-"]),
    ("nothing depends on one host outside host_overrides", Profile::Universal, &["host-named-in-body"]),
    (
        "claude-api: within the upload limits, no network, no packages to install",
        Profile::ClaudeApi,
        &["upload-", "network-declared", "dependencies-declared", "name-", "description-"],
    ),
    (
        "claude-code: the directory can be committed under .claude/skills",
        Profile::ClaudeCode,
        &["name-missing", "description-missing", "symlink-outside", "listing-too-long"],
    ),
    (
        "mcp: names, descriptions and schemas map unchanged",
        Profile::Mcp,
        &["tool-", "files-too-many", "upload-", "name-differs-from-folder"],
    ),
    ("openai: schemas fit strict mode", Profile::OpenAi, &["tool-schema-"]),
    ("codex: risky tools ask before they act", Profile::Universal, &["confirmation-"]),
];

/// Fills in both checklists for a skill.
pub fn evaluate_checklist(skill: &Skill, faults: &[Fault]) -> Vec<SkillChecklistPoint> {
    let found = |profile: Profile| {
        let options = CheckOptions { profiles: vec![profile], ..CheckOptions::default() };
        check_skill(skill, faults.to_vec(), &options).findings
    };
    let profiles = [Profile::Universal, Profile::ClaudeApi, Profile::ClaudeCode, Profile::Mcp, Profile::OpenAi];
    let judged: Vec<(Profile, Vec<crate::Finding>)> =
        profiles.into_iter().map(|profile| (profile, found(profile))).collect();
    let point = |(asks, profile, prefixes): &ChecklistRow| {
        let findings = judged.iter().filter(|(known, _)| known == profile).flat_map(|(_, findings)| findings);
        let speaks = |name: &str| prefixes.iter().any(|prefix| name.starts_with(prefix));
        let mut against: Vec<&'static str> = findings
            .filter(|finding| finding.level > Level::Info && speaks(finding.rule.name))
            .map(|finding| finding.rule.name)
            .collect();
        against.sort_unstable();
        against.dedup();
        SkillChecklistPoint { question: asks, failing_rules: against }
    };
    CHECKLIST_ROWS.iter().map(point).collect()
}
