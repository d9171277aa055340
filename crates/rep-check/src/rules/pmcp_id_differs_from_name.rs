use rep_model::{Frontmatter, Skill, names};

use crate::engine::Findings;
use crate::personal_mcp::find_block;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "pmcp-id-differs-from-name",
    summary: "the `x-personal-mcp` id and the `name` field disagree",
    since: "0.1.0",
    levels: Levels { error: Profile::Pmcp.as_set(), ..Levels::NONE },
    cites: &[Cite::pmcp("SkillFrontmatter.cross_validate")],
    requirements: &["VAL-18", "VAL-54"],
    page: include_str!("pmcp_id_differs_from_name.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let Some((file, block)) = find_block(skill) else { return };
    let (Some(id), Some(name)) = (block.id(), skill.front().and_then(Frontmatter::name)) else { return };
    let (of_block, of_skill) = (names::strip(id.value), names::strip(name.value));
    // A value that is no id at all is reported by itself.
    if of_block == of_skill || !names::is_id(of_block) || !names::is_id(of_skill) {
        return;
    }
    findings
        .add(file, id.span(), format!("id is `{of_block}` but the name is `{of_skill}`"))
        .path("x-personal-mcp.id")
        .help("give both the same value");
}
