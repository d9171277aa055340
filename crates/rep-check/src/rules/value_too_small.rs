use rep_model::Skill;

use crate::engine::Findings;
use crate::shape::Kind;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "value-too-small",
    summary: "a number below the least its field takes",
    since: "0.1.0",
    levels: Levels { error: Profile::Universal.as_set(), ..Levels::NONE },
    cites: &[Cite::universal("Appendix A and B, minimum")],
    requirements: &["TOOL-12", "VAL-46", "VAL-70"],
    page: include_str!("value_too_small.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for misfit in findings.misfits(skill) {
        let Kind::TooSmall(least) = misfit.kind else { continue };
        let text = misfit.text.unwrap_or_default();
        findings
            .add(&misfit.file, misfit.span, format!("`{}` is {text}", misfit.path))
            .path(misfit.path)
            .help(format!("use {least} or more"))
            .only(misfit.profiles);
    }
}
