use rep_model::Skill;

use crate::engine::Findings;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "compatibility-not-mapping",
    summary: "`compatibility` is not a mapping",
    since: "0.1.0",
    levels: Levels { info: Profile::Aam.as_set(), ..Levels::NONE },
    cites: &[Cite::aam("compatibility field")],
    requirements: &["VAL-28"],
    page: include_str!("compatibility_not_mapping.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.front()) else { return };
    let Some(node) = front.get("compatibility") else { return };
    if node.entries().is_none() {
        findings
            .add(manifest.file, node.span, format!("compatibility is {}, and UAAPS has a mapping here", node.kind()))
            .path("compatibility")
            .help("fine for other hosts; for UAAPS alone, list what is needed below `requires`");
    }
}
