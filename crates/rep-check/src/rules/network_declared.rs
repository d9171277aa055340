use rep_model::Skill;
use rep_model::frontmatter::Permissions;

use crate::engine::Findings;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "network-declared",
    summary: "a skill for the Claude API asks for the network",
    since: "0.1.0",
    levels: Levels { warning: Profile::ClaudeApi.as_set(), ..Levels::NONE },
    cites: &[Cite::universal("host profile Claude API"), Cite::host("claude-api: runtime")],
    requirements: &["PERM-11", "HOST-12", "HOST-19"],
    page: include_str!("network_declared.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.front()) else { return };
    let outbound = front.permissions().map(Permissions::outbound).unwrap_or_default();
    if let Some(first) = outbound.first() {
        findings
            .add(manifest.file, first.span(), format!("the network is asked for: `{}`", first.value))
            .path("permissions.network.outbound")
            .help("do without it here; the containers of the Claude API have no network");
    }
}
