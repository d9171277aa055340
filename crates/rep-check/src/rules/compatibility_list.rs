use rep_model::Skill;

use crate::engine::Findings;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "compatibility-list",
    summary: "`compatibility` is a list where a mapping is asked for",
    since: "0.1.0",
    levels: Levels { error: Profile::Aam.as_set(), ..Levels::NONE },
    cites: &[Cite::aam("frontmatter field reference")],
    requirements: &["VAL-28"],
    page: include_str!("compatibility_list.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.front()) else { return };
    let Some(entry) = front.field("compatibility").filter(|entry| entry.value.items().is_some()) else { return };
    findings
        .add(manifest.file, entry.key.span, "field `compatibility` is a list, not a mapping")
        .path("compatibility")
        .help("put the list below `requires`");
}
