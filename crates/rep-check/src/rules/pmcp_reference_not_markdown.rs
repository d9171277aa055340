use rep_model::Skill;

use crate::engine::Findings;
use crate::personal_mcp::{PathFault, find_references};
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "pmcp-reference-not-markdown",
    summary: "a reference to a file that is not Markdown",
    since: "0.1.0",
    levels: Levels { error: Profile::Pmcp.as_set(), ..Levels::NONE },
    cites: &[Cite::pmcp("ReferenceEntry.validate_reference_path")],
    requirements: &["VAL-60"],
    page: include_str!("pmcp_reference_not_markdown.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for reference in find_references(skill).iter().filter(|reference| reference.place == Err(PathFault::NotMarkdown)) {
        let message = format!("reference path `{}` does not name a Markdown file", reference.path.value);
        findings
            .add(reference.file, reference.path.span(), message)
            .path(&reference.field)
            .help("refer to a Markdown file");
    }
}
