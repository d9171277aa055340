use crate::hosts::{CLAUDE_API_SKILLS, CLAUDE_API_SKILLS_2025};
use crate::report::{Facts, SetFindings};
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "skills-above-seed-limit",
    summary: "more skills than a Claude API request took when Universal 2.1 was written",
    since: "0.1.0",
    levels: Levels { warning: Profile::ClaudeApi.as_set(), ..Levels::NONE },
    cites: &[Cite::universal("host profile Claude API"), Cite::host("claude-api: skills per request")],
    requirements: &["HOST-07", "HOST-19"],
    page: include_str!("skills_above_seed_limit.md"),
    check: Check::Set(check),
};

fn check(skills: &[Facts], findings: &mut SetFindings) {
    let count = skills.len() as u64;
    // What the host refuses is the business of `skills-too-many`.
    if count <= CLAUDE_API_SKILLS_2025.value || count > CLAUDE_API_SKILLS.value {
        return;
    }
    let limit = usize::try_from(CLAUDE_API_SKILLS_2025.value).unwrap_or(usize::MAX);
    if let Some(first_over) = skills.get(limit) {
        let message = format!("{count} skills; Universal 2.1 counts on {limit} a request");
        findings.add(&first_over.place, message, &format!("send fewer ({})", CLAUDE_API_SKILLS_2025.origin()));
    }
}
