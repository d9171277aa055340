use std::collections::BTreeMap;

use rep_model::names;

use crate::report::FindingLocation;
use crate::report::{SetFindings, SkillFacts};
use crate::{LintRule, Profile, ProfileSet, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "name-duplicate",
    summary: "two skills have the same name",
    since: "0.1.0",
    levels: RuleLevels {
        error: ProfileSet::new(&[Profile::Pmcp, Profile::Mcp]),
        warning: Profile::ClaudeApi.as_set(),
        ..RuleLevels::NONE
    },
    citations: &[
        RuleCitation::pmcp("frontmatter mapping, id"),
        RuleCitation::client_guide("handling name collisions"),
        RuleCitation::host_table("mcp: skill addresses"),
    ],
    requirements: &["DISC-13"],
    page: include_str!("name_duplicate.md"),
    check: RuleCheck::Set(check),
};

fn check(skills: &[&SkillFacts], findings: &mut SetFindings) {
    let mut named: Vec<(&str, &FindingLocation)> =
        skills.iter().filter_map(|skill| skill.name.as_ref()).map(|(name, place)| (name.as_str(), place)).collect();
    named.sort_by_key(|(_, place)| *place);
    let mut first: BTreeMap<String, &FindingLocation> = BTreeMap::new();
    for (name, place) in named.into_iter().filter(|(name, _)| !name.is_empty()) {
        let other = *first.entry(names::normalise_nfkc(name)).or_insert(place);
        if other.display_path != place.display_path {
            let message = format!("the name `{name}` is already used by `{}`", other.display_path);
            let draft = findings.add_finding(place, message, "rename one of the two");
            draft.with_related(other, format!("`{name}` is also the name of this skill"));
        }
    }
}
