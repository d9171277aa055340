use crate::host_limits::{CLAUDE_API_SKILLS, CLAUDE_API_SKILLS_2025};
use crate::report::{SetFindings, SkillFacts};
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "skills-above-seed-limit",
    summary: "more skills than Universal 2.1 allows in a Claude API request",
    since: "0.1.0",
    levels: RuleLevels { warning: Profile::ClaudeApi.as_set(), ..RuleLevels::NONE },
    citations: &[
        RuleCitation::universal("host profile Claude API"),
        RuleCitation::host_table("claude-api: skills per request"),
    ],
    requirements: &["HOST-07", "HOST-19"],
    page: include_str!("skills_above_seed_limit.md"),
    check: RuleCheck::Set(check),
};

fn check(skills: &[&SkillFacts], findings: &mut SetFindings) {
    let count = skills.len() as u64;
    // `skills-too-many` reports the limit of the host.
    if count <= CLAUDE_API_SKILLS_2025.value || count > CLAUDE_API_SKILLS.value {
        return;
    }
    let limit = usize::try_from(CLAUDE_API_SKILLS_2025.value).unwrap_or(usize::MAX);
    if let Some(first_over) = skills.get(limit) {
        let message = format!("{count} skills; Universal 2.1 allows at most {limit} per request");
        findings.add_finding(
            &first_over.place,
            message,
            &format!("send fewer skills ({})", CLAUDE_API_SKILLS_2025.describe_origin()),
        );
    }
}
