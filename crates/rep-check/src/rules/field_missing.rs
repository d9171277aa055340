use rep_model::Skill;

use crate::data_path::join;
use crate::engine::Findings;
use crate::shape::Kind;
use crate::{Check, Cite, Levels, Profile, ProfileSet, Rule};

pub(super) static RULE: Rule = Rule {
    name: "field-missing",
    summary: "a field the profile requires is absent",
    since: "0.1.0",
    levels: Levels { error: ProfileSet::new(&[Profile::Universal, Profile::Pmcp, Profile::Uasp]), ..Levels::NONE },
    cites: &[
        Cite::universal("Appendix A and B, required"),
        Cite::uasp("§3.1, required"),
        Cite::pmcp("validate_skill_frontmatter"),
    ],
    requirements: &["VAL-01", "VAL-25", "VAL-49", "VAL-50", "VAL-56", "VAL-70", "VAL-71", "TOOL-02", "US-01", "US-02"],
    page: include_str!("field_missing.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for misfit in findings.misfits(skill) {
        let Kind::Missing(field) = misfit.kind else { continue };
        let message = match misfit.path.as_str() {
            "" => format!("field `{field}` is missing"),
            parent => format!("`{parent}` has no `{field}`"),
        };
        findings
            .add(&misfit.file, misfit.span, message)
            .path(join(&misfit.path, field))
            .help(format!("add `{field}`"))
            .only(misfit.profiles);
    }
}
