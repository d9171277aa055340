use rep_model::Skill;

use crate::engine::Findings;
use crate::shape::Kind;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "list-empty",
    summary: "an empty list where at least one item is needed",
    since: "0.1.0",
    levels: Levels { error: Profile::Pmcp.as_set(), ..Levels::NONE },
    cites: &[Cite::pmcp("SkillBlock.capabilities")],
    requirements: &["VAL-56"],
    page: include_str!("list_empty.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for misfit in findings.misfits(skill) {
        let Kind::Empty = misfit.kind else { continue };
        findings
            .add(&misfit.file, misfit.span, format!("`{}` is an empty list", misfit.path))
            .path(misfit.path)
            .help("add at least one item")
            .only(misfit.profiles);
    }
}
