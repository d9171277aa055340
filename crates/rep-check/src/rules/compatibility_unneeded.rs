use rep_model::{Skill, names};

use crate::engine::Findings;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "compatibility-unneeded",
    summary: "`compatibility` names no requirement",
    since: "0.1.0",
    levels: Levels { info: Profile::AgentSkills.as_set(), ..Levels::NONE },
    cites: &[Cite::agentskills("compatibility field")],
    requirements: &["VAL-29"],
    page: include_str!("compatibility_unneeded.md"),
    check: Check::Skill(check),
};

/// Whole values that ask for nothing.
const NOTHING: [&str; 24] = [
    "-",
    "all",
    "all agents",
    "all environments",
    "all platforms",
    "any",
    "any agent",
    "any environment",
    "any platform",
    "anything",
    "anywhere",
    "cross-platform",
    "everything",
    "everywhere",
    "n/a",
    "na",
    "no requirements",
    "no special requirements",
    "none",
    "none required",
    "universal",
    "works anywhere",
    "works everywhere",
    "works on all platforms",
];

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.front()) else { return };
    let Some(text) = front.text("compatibility") else { return };
    let value = names::strip(text.value).trim_end_matches(['.', '!']).to_lowercase();
    if NOTHING.contains(&value.as_str()) {
        findings
            .add(manifest.file, text.span(), "compatibility names no requirement")
            .path("compatibility")
            .help("remove the field; most skills need none");
    }
}
