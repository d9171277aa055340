use rep_model::{Skill, Span};

use crate::engine::Findings;
use crate::hosts::{Limit, MCP_FILES, OPENAI_FILES};
use crate::{Check, Cite, Levels, Profile, ProfileSet, Rule};

pub(super) static RULE: Rule = Rule {
    name: "files-too-many",
    summary: "a skill of more files than its host takes",
    since: "0.1.0",
    levels: Levels { error: ProfileSet::new(&[Profile::OpenAi, Profile::Mcp]), ..Levels::NONE },
    cites: &[Cite::host("openai: files per version"), Cite::host("mcp: files per skill")],
    requirements: &["HOST-19"],
    page: include_str!("files_too_many.md"),
    check: Check::Skill(check),
};

static LIMITS: [(Profile, &Limit); 2] = [(Profile::OpenAi, &OPENAI_FILES), (Profile::Mcp, &MCP_FILES)];

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let count = skill.tree.file_count() as u64;
    for (profile, limit) in LIMITS.iter().filter(|(_, limit)| count > limit.value) {
        findings
            .add("", Span::default(), format!("{count} files; the host takes {}", limit.value))
            .help(format!("leave out or join what the skill does not need apart ({})", limit.origin()))
            .only(profile.as_set());
    }
}
