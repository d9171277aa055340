use rep_model::Skill;

use crate::data_path::join;
use crate::engine::Findings;
use crate::shape::Kind;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "field-unexpected",
    summary: "a field inside a block that has no such field",
    since: "0.1.0",
    levels: Levels { error: Profile::Universal.as_set(), ..Levels::NONE },
    cites: &[Cite::universal("Appendix A and B, additionalProperties")],
    requirements: &["VAL-46", "VAL-47", "VAL-49", "VAL-50", "VAL-70", "TOOL-02", "TOOL-14"],
    page: include_str!("field_unexpected.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for misfit in findings.misfits(skill) {
        let Kind::Unknown { field, nearest } = misfit.kind else { continue };
        let help = match nearest {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None => "remove it, or move it below `extensions`, the place for custom data".to_owned(),
        };
        findings
            .add(&misfit.file, misfit.span, format!("`{}` has no field `{field}`", misfit.path))
            .path(join(&misfit.path, &field))
            .help(help)
            .only(misfit.profiles);
    }
}
