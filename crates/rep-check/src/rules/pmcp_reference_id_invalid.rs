use rep_model::{Skill, names};

use crate::engine::Findings;
use crate::personal_mcp::find_block;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "pmcp-reference-id-invalid",
    summary: "a reference whose id has letters an id cannot have",
    since: "0.1.0",
    levels: Levels { error: Profile::Pmcp.as_set(), ..Levels::NONE },
    cites: &[Cite::pmcp("PersonalMcpMetadata.validate_reference_ids")],
    requirements: &["VAL-59"],
    page: include_str!("pmcp_reference_id_invalid.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let Some((file, block)) = find_block(skill) else { return };
    for entry in block.references() {
        let Some(id) = entry.key.text().map(names::strip) else { continue };
        if !names::is_id(id) {
            findings
                .add(file, entry.key.span, format!("`{id}` cannot be the id of a reference"))
                .path("x-personal-mcp.references")
                .help("use lower-case letters, digits and hyphens, a letter first");
        }
    }
}
