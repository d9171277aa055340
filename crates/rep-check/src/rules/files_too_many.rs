use rep_model::{Skill, Span};

use crate::draft::Findings;
use crate::host_limits::{HostLimit, MCP_FILES, OPENAI_FILES};
use crate::{LintRule, Profile, ProfileSet, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "files-too-many",
    summary: "a skill has more files than the host accepts",
    since: "0.1.0",
    levels: RuleLevels { error: ProfileSet::new(&[Profile::OpenAi, Profile::Mcp]), ..RuleLevels::NONE },
    citations: &[
        RuleCitation::host_table("openai: files per version"),
        RuleCitation::host_table("mcp: files per skill"),
    ],
    requirements: &["HOST-19"],
    page: include_str!("files_too_many.md"),
    check: RuleCheck::Skill(check),
};

static FILE_COUNT_LIMITS: [(Profile, &HostLimit); 2] = [(Profile::OpenAi, &OPENAI_FILES), (Profile::Mcp, &MCP_FILES)];

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let count = skill.tree.file_count() as u64;
    for (profile, limit) in FILE_COUNT_LIMITS.iter().filter(|(_, limit)| count > limit.value) {
        findings
            .add("", Span::default(), format!("{count} files; the host accepts at most {}", limit.value))
            .help(format!("remove or combine files ({})", limit.describe_origin()))
            .only_for_profiles(profile.as_set());
    }
}
