use rep_model::frontmatter::Text;
use rep_model::{Manifest, Skill, names};

use super::name_empty;
use crate::engine::Findings;
use crate::profile::MARKDOWN;
use crate::{Check, Cite, Levels, Rule};

pub(super) static RULE: Rule = Rule {
    name: "description-empty",
    summary: "`description` holds nothing but blanks",
    since: "0.1.0",
    levels: Levels { error: MARKDOWN, ..Levels::NONE },
    cites: &[
        Cite::agentskills("description field"),
        Cite::reference("validate: non-empty string"),
        Cite::universal("Appendix A, minLength"),
    ],
    requirements: &["VAL-14", "VAL-19", "VAL-21"],
    page: include_str!("description_empty.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    name_empty::report(skill, "description", "say what the skill does, and when to use it", findings);
}

/// A description that is not blank, and the file it stands in.
pub(super) fn description(skill: &Skill) -> Option<(&Manifest, Text<'_>)> {
    let manifest = skill.manifest.as_ref()?;
    let description = manifest.front.as_ref()?.description()?;
    (!names::strip(description.value).is_empty()).then_some((manifest, description))
}
