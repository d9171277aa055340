use rep_model::Skill;

use crate::engine::Findings;
use crate::shape::Kind;
use crate::{Check, Cite, Levels, Profile, ProfileSet, Rule};

pub(super) static RULE: Rule = Rule {
    name: "value-length",
    summary: "text whose length its field does not take",
    since: "0.1.0",
    levels: Levels { error: ProfileSet::new(&[Profile::Universal, Profile::Uasp]), ..Levels::NONE },
    cites: &[Cite::universal("Appendix A and B, maxLength"), Cite::uasp("§3.1, maxLength")],
    requirements: &["TOOL-03", "TOOL-04", "VAL-70", "US-06"],
    page: include_str!("value_length.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for misfit in findings.misfits(skill) {
        let Kind::Length { min, max, found } = misfit.kind else { continue };
        let message = match found {
            0 => format!("`{}` is empty", misfit.path),
            found => format!("`{}` is {found} characters long", misfit.path),
        };
        let help = if found < min {
            format!("write {min} to {max} characters")
        } else {
            format!("cut it to {max} characters")
        };
        findings.add(&misfit.file, misfit.span, message).path(misfit.path).help(help).only(misfit.profiles);
    }
}
