use rep_model::{Skill, Span};

use crate::engine::Findings;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "confirmation-undeclared",
    summary: "`safety` does not say what needs confirmation",
    since: "0.1.0",
    levels: Levels { warning: Profile::Universal.as_set(), ..Levels::NONE },
    cites: &[Cite::universal("§8, safety structure")],
    requirements: &["VAL-48", "CONF-01"],
    page: include_str!("confirmation_undeclared.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.front()) else { return };
    // An absent block is the business of `safety-missing`.
    let Some(safety) = front.get("safety").filter(|safety| safety.entries().is_some()) else { return };
    if safety.get("require_confirmation_for").is_none() {
        findings
            .add(manifest.file, Span::at(safety.span.start), "`safety` has no `require_confirmation_for`")
            .path("safety.require_confirmation_for")
            .help("add `require_confirmation_for` with `destructive_writes`, `external_network`, or an empty list");
    }
}
