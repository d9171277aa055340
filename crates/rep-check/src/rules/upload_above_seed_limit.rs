use rep_model::{Skill, Span};

use crate::engine::Findings;
use crate::hosts::{CLAUDE_API_BYTES, CLAUDE_API_BYTES_2025};
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "upload-above-seed-limit",
    summary: "a skill larger than the Claude API took when Universal 2.1 was written",
    since: "0.1.0",
    levels: Levels { warning: Profile::ClaudeApi.as_set(), ..Levels::NONE },
    cites: &[Cite::universal("host profile Claude API"), Cite::host("claude-api: upload size")],
    requirements: &["HOST-08", "HOST-19"],
    page: include_str!("upload_above_seed_limit.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let size = skill.tree.size_bytes();
    // What the host refuses is the business of `upload-too-large`.
    if size > CLAUDE_API_BYTES_2025.value && size <= CLAUDE_API_BYTES.value {
        let message =
            format!("the files come to {size} bytes; Universal 2.1 counts on {}", CLAUDE_API_BYTES_2025.value);
        findings
            .add("", Span::default(), message)
            .help(format!("move what the skill does not need elsewhere ({})", CLAUDE_API_BYTES_2025.origin()));
    }
}
