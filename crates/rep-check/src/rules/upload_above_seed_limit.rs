use rep_model::{Skill, Span};

use crate::draft::Findings;
use crate::host_limits::{CLAUDE_API_BYTES, CLAUDE_API_BYTES_2025};
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "upload-above-seed-limit",
    summary: "a skill is larger than Universal 2.1 allows for the Claude API",
    since: "0.1.0",
    levels: RuleLevels { warning: Profile::ClaudeApi.as_set(), ..RuleLevels::NONE },
    citations: &[
        RuleCitation::universal("host profile Claude API"),
        RuleCitation::host_table("claude-api: upload size"),
    ],
    requirements: &["HOST-08", "HOST-19"],
    page: include_str!("upload_above_seed_limit.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let size = skill.tree.size_bytes();
    // `upload-too-large` reports the limit of the host.
    if size > CLAUDE_API_BYTES_2025.value && size <= CLAUDE_API_BYTES.value {
        let message =
            format!("the files total {size} bytes; Universal 2.1 allows at most {}", CLAUDE_API_BYTES_2025.value);
        findings
            .add("", Span::default(), message)
            .help(format!("move unrelated files elsewhere ({})", CLAUDE_API_BYTES_2025.describe_origin()));
    }
}
