use rep_model::{Entry, Skill};

use crate::engine::Findings;
use crate::personal_mcp::find_references;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "pmcp-reference-missing",
    summary: "a reference to a file the skill does not have",
    since: "0.1.0",
    levels: Levels { error: Profile::Pmcp.as_set(), ..Levels::NONE },
    cites: &[Cite::pmcp("validation behaviour, broken required mappings")],
    requirements: &["VAL-60", "VAL-66"],
    page: include_str!("pmcp_reference_missing.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    if !skill.tree.left_out.is_empty() {
        return;
    }
    for reference in find_references(skill) {
        let Ok(path) = &reference.place else { continue };
        // A path that leaves the skill through a link is `pmcp-reference-escapes`.
        let is_folder = matches!(skill.tree.entries.get(path), Some(Entry::Directory));
        if (!skill.tree.has(path) || is_folder) && !skill.tree.escapes(path) {
            findings
                .add(reference.file, reference.path.span(), format!("reference `{path}` does not exist"))
                .path(&reference.field)
                .help("add the file, or mend the path; it is relative to the skill's folder");
        }
    }
}
