use rep_model::frontmatter::text;
use rep_model::yaml::Node;
use rep_model::{Skill, names};

use crate::engine::Findings;
use crate::personal_mcp::find_block;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "pmcp-depends-on-invalid",
    summary: "a dependency that cannot be the id of a skill",
    since: "0.1.0",
    levels: Levels { error: Profile::Pmcp.as_set(), ..Levels::NONE },
    cites: &[Cite::pmcp("PersonalMcpMetadata.validate_depends_on")],
    requirements: &["VAL-58"],
    page: include_str!("pmcp_depends_on_invalid.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let Some((file, block)) = find_block(skill) else { return };
    let items = block.0.get("depends_on").and_then(Node::items).unwrap_or(&[]);
    for (index, item) in items.iter().enumerate() {
        let Some(id) = text(item).filter(|id| id.is_text()) else { continue };
        let id = names::strip(id.value);
        if !names::is_id(id) {
            findings
                .add(file, item.span, format!("depends on `{id}`, which cannot be the id of a skill"))
                .path(format!("x-personal-mcp.depends_on[{index}]"))
                .help("write the id of the other skill: lower-case letters, digits and hyphens, a letter first");
        }
    }
}
