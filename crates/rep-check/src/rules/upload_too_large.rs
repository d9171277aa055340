use rep_model::{Skill, Span};

use crate::engine::Findings;
use crate::hosts::{CLAUDE_API_BYTES, Limit, MCP_BYTES, OPENAI_BYTES};
use crate::{Check, Cite, Levels, Profile, ProfileSet, Rule};

pub(super) static RULE: Rule = Rule {
    name: "upload-too-large",
    summary: "a skill larger than its host takes",
    since: "0.1.0",
    levels: Levels { error: ProfileSet::new(&[Profile::ClaudeApi, Profile::OpenAi, Profile::Mcp]), ..Levels::NONE },
    cites: &[Cite::host("claude-api: upload size"), Cite::host("openai: upload size"), Cite::host("mcp: skill size")],
    requirements: &["HOST-08", "HOST-19"],
    page: include_str!("upload_too_large.md"),
    check: Check::Skill(check),
};

static LIMITS: [(Profile, &Limit); 3] =
    [(Profile::ClaudeApi, &CLAUDE_API_BYTES), (Profile::OpenAi, &OPENAI_BYTES), (Profile::Mcp, &MCP_BYTES)];

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let size = skill.tree.size_bytes();
    for (profile, limit) in LIMITS.iter().filter(|(_, limit)| size > limit.value) {
        findings
            .add("", Span::default(), format!("the files come to {size} bytes; the host takes {}", limit.value))
            .help(format!("move what the skill does not need elsewhere ({})", limit.origin()))
            .only(profile.as_set());
    }
}
