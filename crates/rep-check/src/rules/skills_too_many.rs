use crate::host_limits::CLAUDE_API_SKILLS;
use crate::report::{SetFindings, SkillFacts};
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "skills-too-many",
    summary: "more skills than a Claude API request accepts",
    since: "0.1.0",
    levels: RuleLevels { error: Profile::ClaudeApi.as_set(), ..RuleLevels::NONE },
    citations: &[
        RuleCitation::host_table("claude-api: skills per request"),
        RuleCitation::universal("host profile Claude API"),
    ],
    requirements: &["HOST-07"],
    page: include_str!("skills_too_many.md"),
    check: RuleCheck::Set(check),
};

fn check(skills: &[&SkillFacts], findings: &mut SetFindings) {
    let limit = usize::try_from(CLAUDE_API_SKILLS.value).unwrap_or(usize::MAX);
    if let Some(first_over) = skills.get(limit) {
        let message = format!("{} skills; a request accepts at most {limit}", skills.len());
        findings.add_finding(
            &first_over.place,
            message,
            &format!("send fewer skills ({})", CLAUDE_API_SKILLS.describe_origin()),
        );
    }
}
