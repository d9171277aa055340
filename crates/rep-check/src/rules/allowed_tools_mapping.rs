use rep_model::Skill;

use crate::draft::Findings;
use crate::profile::STANDARD;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "allowed-tools-mapping",
    summary: "`allowed-tools` is a mapping",
    since: "0.1.0",
    levels: RuleLevels {
        error: STANDARD.union(Profile::Aam.as_set()),
        warning: Profile::ClaudeCode.as_set(),
        ..RuleLevels::NONE
    },
    citations: &[RuleCitation::agentskills("allowed-tools field"), RuleCitation::aam("frontmatter field reference")],
    requirements: &["VAL-33"],
    page: include_str!("allowed_tools_mapping.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.frontmatter()) else { return };
    let Some(entry) = front.find_field("allowed-tools").filter(|entry| entry.value.entries().is_some()) else { return };
    findings
        .add(manifest.file, entry.key.span, "`allowed-tools` is a mapping, not text")
        .with_data_path("allowed-tools")
        .help("write one string with spaces between tools: `Read Bash(git:*)`");
}
