use crate::hosts::CLAUDE_API_SKILLS;
use crate::report::{Facts, SetFindings};
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "skills-too-many",
    summary: "more skills than one Claude API request may carry",
    since: "0.1.0",
    levels: Levels { error: Profile::ClaudeApi.as_set(), ..Levels::NONE },
    cites: &[Cite::host("claude-api: skills per request"), Cite::universal("host profile Claude API")],
    requirements: &["HOST-07"],
    page: include_str!("skills_too_many.md"),
    check: Check::Set(check),
};

fn check(skills: &[Facts], findings: &mut SetFindings) {
    let limit = usize::try_from(CLAUDE_API_SKILLS.value).unwrap_or(usize::MAX);
    if let Some(first_over) = skills.get(limit) {
        let message = format!("{} skills; one request may carry {limit}", skills.len());
        findings.add(&first_over.place, message, &format!("send fewer ({})", CLAUDE_API_SKILLS.origin()));
    }
}
