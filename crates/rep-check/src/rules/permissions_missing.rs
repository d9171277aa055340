use rep_model::{Skill, Span};

use crate::engine::Findings;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "permissions-missing",
    summary: "a Universal skill does not declare `permissions`",
    since: "0.1.0",
    levels: Levels { warning: Profile::Universal.as_set(), ..Levels::NONE },
    cites: &[Cite::universal("§8 and the MUST checklist")],
    requirements: &["VAL-71", "PERM-01"],
    page: include_str!("permissions_missing.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.front()) else { return };
    if front.field("permissions").is_none() {
        findings
            .add(manifest.file, Span::at(front.root.span.start), "field `permissions` is missing")
            .path("permissions")
            .help("add `permissions` with what the skill needs; until then hosts grant nothing");
    }
}
