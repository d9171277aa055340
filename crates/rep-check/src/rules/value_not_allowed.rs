use rep_model::Skill;

use crate::engine::Findings;
use crate::shape::Kind;
use crate::{Check, Cite, Levels, Profile, ProfileSet, Rule};

pub(super) static RULE: Rule = Rule {
    name: "value-not-allowed",
    summary: "a value that is none of the words its field allows",
    since: "0.1.0",
    levels: Levels { error: ProfileSet::new(&[Profile::Universal, Profile::Uasp]), ..Levels::NONE },
    cites: &[Cite::universal("Appendix A, enum"), Cite::uasp("§3.1, enum")],
    requirements: &["TOOL-05", "CONF-02", "SEC-04", "VAL-49", "US-05"],
    page: include_str!("value_not_allowed.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for misfit in findings.misfits(skill) {
        let Kind::Choice(words) = misfit.kind else { continue };
        let text = misfit.text.unwrap_or_default();
        let listed: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
        findings
            .add(&misfit.file, misfit.span, format!("`{}` is `{text}`", misfit.path))
            .path(misfit.path)
            .help(format!("use one of {}", listed.join(", ")))
            .only(misfit.profiles);
    }
}
