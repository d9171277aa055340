use rep_model::Skill;

use crate::engine::Findings;
use crate::personal_mcp::{PathFault, find_references};
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "pmcp-reference-outside",
    summary: "a reference whose path climbs with `..`",
    since: "0.1.0",
    levels: Levels { error: Profile::Pmcp.as_set(), ..Levels::NONE },
    cites: &[Cite::pmcp("ReferenceEntry.validate_reference_path")],
    requirements: &["VAL-60"],
    page: include_str!("pmcp_reference_outside.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for reference in find_references(skill).iter().filter(|reference| reference.place == Err(PathFault::Climbing)) {
        findings
            .add(reference.file, reference.path.span(), format!("reference path `{}` holds `..`", reference.path.value))
            .path(&reference.field)
            .help("write the path without `..`, and copy what lies elsewhere below `references/`");
    }
}
