use rep_model::Skill;

use crate::engine::Findings;
use crate::personal_mcp::{PathFault, find_references};
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "pmcp-reference-absolute",
    summary: "a reference whose path is absolute",
    since: "0.1.0",
    levels: Levels { error: Profile::Pmcp.as_set(), ..Levels::NONE },
    cites: &[Cite::pmcp("ReferenceEntry.validate_reference_path")],
    requirements: &["VAL-60"],
    page: include_str!("pmcp_reference_absolute.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for reference in find_references(skill).iter().filter(|reference| reference.place == Err(PathFault::Absolute)) {
        let message = format!("reference path `{}` is absolute", reference.path.value);
        findings
            .add(reference.file, reference.path.span(), message)
            .path(&reference.field)
            .help("write the path from the skill's folder, such as `references/guide.md`");
    }
}
