use rep_model::Skill;
use rep_model::yaml::{Node, core};

use crate::engine::Findings;
use crate::{Check, Cite, Levels, Profile, ProfileSet, Rule};

pub(super) static RULE: Rule = Rule {
    name: "redaction-off",
    summary: "a skill switches redaction off",
    since: "0.1.0",
    levels: Levels { warning: ProfileSet::new(&[Profile::Universal, Profile::Security]), ..Levels::NONE },
    cites: &[Cite::universal("§8, safety.redact")],
    requirements: &["SEC-01", "SEC-05"],
    page: include_str!("redaction_off.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.front()) else { return };
    let Some(redact) = front.get("safety").and_then(|safety| safety.get("redact")) else { return };
    let values = [
        ("safety.redact", Some(redact), "secrets and personal data"),
        ("safety.redact.secrets", redact.get("secrets"), "secrets"),
        ("safety.redact.pii", redact.get("pii"), "personal data"),
    ];
    for (path, value, what) in values {
        if let Some(value) = value.filter(|value| is_false(value)) {
            findings
                .add(manifest.file, value.span, format!("redaction of {what} is switched off"))
                .path(path)
                .help("write `true`; logs and tool output leave the machine more often than one thinks");
        }
    }
}

fn is_false(value: &Node) -> bool {
    core::scalar(value) == Some(core::Scalar::Bool(false))
}
