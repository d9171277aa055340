use rep_model::{Skill, Span};

use crate::draft::Findings;
use crate::host_limits::{CLAUDE_API_BYTES, HostLimit, MCP_BYTES, OPENAI_BYTES};
use crate::{LintRule, Profile, ProfileSet, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "upload-too-large",
    summary: "a skill exceeds the host's size limit",
    since: "0.1.0",
    levels: RuleLevels {
        error: ProfileSet::new(&[Profile::ClaudeApi, Profile::OpenAi, Profile::Mcp]),
        ..RuleLevels::NONE
    },
    citations: &[
        RuleCitation::host_table("claude-api: upload size"),
        RuleCitation::host_table("openai: upload size"),
        RuleCitation::host_table("mcp: skill size"),
    ],
    requirements: &["HOST-08", "HOST-19"],
    page: include_str!("upload_too_large.md"),
    check: RuleCheck::Skill(check),
};

static UPLOAD_LIMITS: [(Profile, &HostLimit); 3] =
    [(Profile::ClaudeApi, &CLAUDE_API_BYTES), (Profile::OpenAi, &OPENAI_BYTES), (Profile::Mcp, &MCP_BYTES)];

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let size = skill.tree.size_bytes();
    for (profile, limit) in UPLOAD_LIMITS.iter().filter(|(_, limit)| size > limit.value) {
        findings
            .add("", Span::default(), format!("the files total {size} bytes; the host accepts at most {}", limit.value))
            .help(format!("move unrelated files elsewhere ({})", limit.describe_origin()))
            .only_for_profiles(profile.as_set());
    }
}
