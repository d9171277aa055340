use rep_model::names;

use crate::report::{SetFindings, SkillFacts};
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "depends-on-unknown",
    summary: "a dependency on an unknown skill",
    since: "0.1.0",
    levels: RuleLevels { error: Profile::Pmcp.as_set(), warning: Profile::Universal.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::pmcp("frontmatter mapping, depends_on"), RuleCitation::universal("§3, depends_on")],
    requirements: &["DISC-17", "DISC-18"],
    page: include_str!("depends_on_unknown.md"),
    check: RuleCheck::Set(check),
};

fn check(skills: &[&SkillFacts], findings: &mut SetFindings) {
    // Nothing is known about the set of a skill without neighbors.
    if findings.skill_count() < 2 {
        return;
    }
    for (id, place) in skills.iter().flat_map(|skill| &skill.depends_on) {
        // `pmcp-depends-on-invalid` reports values that are not valid ids.
        if names::is_plain_name(id) && !findings.has_skill_name(id) {
            let help = "add that skill to the set, or fix the id";
            findings.add_finding(place, format!("depends on the unknown skill `{id}`"), help);
        }
    }
}
