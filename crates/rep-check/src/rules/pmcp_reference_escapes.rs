use rep_model::Skill;

use crate::engine::Findings;
use crate::personal_mcp::find_references;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "pmcp-reference-escapes",
    summary: "a reference that leaves the skill through a symbolic link",
    since: "0.1.0",
    levels: Levels { error: Profile::Pmcp.as_set(), ..Levels::NONE },
    cites: &[Cite::pmcp("repository metadata, references")],
    requirements: &["VAL-61"],
    page: include_str!("pmcp_reference_escapes.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for reference in find_references(skill) {
        let Ok(path) = &reference.place else { continue };
        if skill.tree.escapes(path) {
            findings
                .add(reference.file, reference.path.span(), format!("reference `{path}` leads out of the skill"))
                .path(&reference.field)
                .help("replace the symbolic link with the file itself");
        }
    }
}
