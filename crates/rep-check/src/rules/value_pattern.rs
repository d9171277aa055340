use rep_model::Skill;

use crate::engine::Findings;
use crate::shape::Kind;
use crate::{Check, Cite, Levels, Profile, ProfileSet, Rule};

pub(super) static RULE: Rule = Rule {
    name: "value-pattern",
    summary: "text that does not have the form its field demands",
    since: "0.1.0",
    levels: Levels { error: ProfileSet::new(&[Profile::Pmcp, Profile::Uasp]), ..Levels::NONE },
    cites: &[Cite::pmcp("SkillBlock.id"), Cite::uasp("§3.1, pattern")],
    requirements: &["VAL-54", "US-03"],
    page: include_str!("value_pattern.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for misfit in findings.misfits(skill) {
        let Kind::Pattern(form) = misfit.kind else { continue };
        let text = misfit.text.unwrap_or_default();
        findings
            .add(&misfit.file, misfit.span, format!("`{}` is `{text}`", misfit.path))
            .path(misfit.path)
            .help(format!("use {form}"))
            .only(misfit.profiles);
    }
}
