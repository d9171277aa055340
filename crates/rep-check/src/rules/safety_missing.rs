use rep_model::{Skill, Span};

use crate::engine::Findings;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "safety-missing",
    summary: "a Universal skill does not declare `safety`",
    since: "0.1.0",
    levels: Levels { warning: Profile::Universal.as_set(), ..Levels::NONE },
    cites: &[Cite::universal("§8 and the MUST checklist")],
    requirements: &["VAL-48", "VAL-71"],
    page: include_str!("safety_missing.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.front()) else { return };
    if front.field("safety").is_none() {
        findings.add(manifest.file, Span::at(front.root.span.start), "field `safety` is missing").path("safety").help(
            "add `safety` with `redact` and `require_confirmation_for`; until then hosts redact and confirm everything",
        );
    }
}
