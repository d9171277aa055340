use rep_model::yaml::Node;
use rep_model::{Skill, Span, names};

use crate::engine::Findings;
use crate::personal_mcp::find_block;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "pmcp-capability-missing",
    summary: "the capabilities lack the address of the skill itself",
    since: "0.1.0",
    levels: Levels { error: Profile::Pmcp.as_set(), ..Levels::NONE },
    cites: &[Cite::pmcp("PersonalMcpMetadata.ensure_primary_capability")],
    requirements: &["VAL-57"],
    page: include_str!("pmcp_capability_missing.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let Some((file, block)) = find_block(skill) else { return };
    let Some(id) = block.id().map(|id| names::strip(id.value)).filter(|id| names::is_id(id)) else { return };
    let Some(list) = block.0.get("capabilities") else { return };
    let items = list.items().unwrap_or(&[]);
    let wanted = format!("resource://skills/{id}/document");
    let is_other = |item: &Node| item.text().is_some_and(|text| names::strip(text) != wanted);
    // An empty list, and an item that is no text, are reported by themselves.
    if !items.is_empty() && items.iter().all(is_other) {
        findings
            .add(file, Span::at(list.span.start), format!("the capabilities lack `{wanted}`"))
            .path("x-personal-mcp.capabilities")
            .help("add it to the list");
    }
}
