//! The two checklists of Universal 2.1, answered from the rules: eight points every skill must pass, and one per host.

use crate::{Level, Options, Profile, check};
use rep_model::{Fault, Skill};

/// One point of a checklist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// What is asked.
    pub asks: &'static str,
    /// The rules that say it does not hold; empty where it does.
    pub against: Vec<&'static str>,
}

/// A point, the profile it is judged under, and the beginnings of the names of the rules that speak against it.
type Line = (&'static str, Profile, &'static [&'static str]);

const LINES: &[Line] = &[
    (
        "SKILL.md stands at the root and begins with frontmatter",
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
        "spec_version, name, description and version are there",
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
        "skill and tool names keep to the portable baseline",
        Profile::Universal,
        &["name-too-long", "name-uppercase", "name-characters", "name-not-ascii", "name-reserved-word", "tool-name-"],
    ),
    (
        "tool schemas are valid and take an object",
        Profile::Universal,
        &["tool-schema-invalid", "tool-input-not-object"],
    ),
    ("object schemas are closed", Profile::Universal, &["tool-schema-open"]),
    ("permissions are declared and narrow", Profile::Universal, &["permission"]),
    ("safety declares redaction and confirmation", Profile::Universal, &["safety-", "redaction-", "confirmation-"]),
    ("nothing leans on one host outside host_overrides", Profile::Universal, &["host-named-in-body"]),
    (
        "claude-api: within the upload's limits, no network, nothing to install",
        Profile::ClaudeApi,
        &["upload-", "network-declared", "dependencies-declared", "name-", "description-"],
    ),
    (
        "claude-code: the folder can be committed under .claude/skills",
        Profile::ClaudeCode,
        &["name-missing", "description-missing", "symlink-outside", "listing-too-long"],
    ),
    (
        "mcp: names, descriptions and schemas map as they are",
        Profile::Mcp,
        &["tool-", "files-too-many", "upload-", "name-differs-from-folder"],
    ),
    ("openai: schemas fit strict mode", Profile::OpenAi, &["tool-schema-"]),
    ("codex: risky tools ask before they act", Profile::Universal, &["confirmation-"]),
];

/// Answers both checklists for a skill.
pub fn checklist(skill: &Skill, faults: &[Fault]) -> Vec<Point> {
    let found = |profile: Profile| {
        let options = Options { profiles: vec![profile], ..Options::default() };
        check(skill, faults.to_vec(), &options).findings
    };
    let profiles = [Profile::Universal, Profile::ClaudeApi, Profile::ClaudeCode, Profile::Mcp, Profile::OpenAi];
    let judged: Vec<(Profile, Vec<crate::Finding>)> =
        profiles.into_iter().map(|profile| (profile, found(profile))).collect();
    let point = |(asks, profile, prefixes): &Line| {
        let findings = judged.iter().filter(|(known, _)| known == profile).flat_map(|(_, findings)| findings);
        let speaks = |name: &str| prefixes.iter().any(|prefix| name.starts_with(prefix));
        let mut against: Vec<&'static str> = findings
            .filter(|finding| finding.level > Level::Info && speaks(finding.rule.name))
            .map(|finding| finding.rule.name)
            .collect();
        against.sort_unstable();
        against.dedup();
        Point { asks, against }
    };
    LINES.iter().map(point).collect()
}
