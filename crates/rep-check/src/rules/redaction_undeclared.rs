use rep_model::{Skill, Span};

use crate::engine::Findings;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "redaction-undeclared",
    summary: "`safety` does not say what is redacted",
    since: "0.1.0",
    levels: Levels { warning: Profile::Universal.as_set(), ..Levels::NONE },
    cites: &[Cite::universal("§8, safety structure")],
    requirements: &["VAL-48", "SEC-05"],
    page: include_str!("redaction_undeclared.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.front()) else { return };
    // An absent block is the business of `safety-missing`.
    let Some(safety) = front.get("safety").filter(|safety| safety.entries().is_some()) else { return };
    if safety.get("redact").is_none() {
        findings
            .add(manifest.file, Span::at(safety.span.start), "`safety` has no `redact`")
            .path("safety.redact")
            .help("add `redact: {secrets: true, pii: true}`");
    }
}
