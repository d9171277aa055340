use rep_model::Skill;

use crate::engine::Findings;
use crate::profile::STANDARD;
use crate::{Check, Cite, Levels, Profile, ProfileSet, Rule};

pub(super) static RULE: Rule = Rule {
    name: "metadata-not-mapping",
    summary: "`metadata` is not a mapping",
    since: "0.1.0",
    levels: Levels { error: STANDARD.union(ProfileSet::new(&[Profile::Aam, Profile::Pmcp])), ..Levels::NONE },
    cites: &[Cite::agentskills("metadata field"), Cite::pmcp("frontmatter model")],
    requirements: &["VAL-30"],
    page: include_str!("metadata_not_mapping.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.front()) else { return };
    let Some(node) = front.get("metadata") else { return };
    // A bracket at the start of text is broken flow style, read as text to go on; `yaml-value-unquoted` says so.
    let is_broken = node.text().is_some() && manifest.source.slice(node.span).starts_with(['{', '[']);
    if node.entries().is_none() && !is_broken {
        findings
            .add(manifest.file, node.span, format!("metadata is {}, not a mapping", node.kind()))
            .path("metadata")
            .help("write `key: value` lines below it");
    }
}
