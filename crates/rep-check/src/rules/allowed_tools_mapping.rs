use rep_model::Skill;

use crate::engine::Findings;
use crate::profile::STANDARD;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "allowed-tools-mapping",
    summary: "`allowed-tools` is a mapping",
    since: "0.1.0",
    levels: Levels {
        error: STANDARD.union(Profile::Aam.as_set()),
        warning: Profile::ClaudeCode.as_set(),
        ..Levels::NONE
    },
    cites: &[Cite::agentskills("allowed-tools field"), Cite::aam("frontmatter field reference")],
    requirements: &["VAL-33"],
    page: include_str!("allowed_tools_mapping.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.front()) else { return };
    let Some(entry) = front.field("allowed-tools").filter(|entry| entry.value.entries().is_some()) else { return };
    findings
        .add(manifest.file, entry.key.span, "allowed-tools is a mapping, not text")
        .path("allowed-tools")
        .help("write one text, with a blank between tools: `Read Bash(git:*)`");
}
