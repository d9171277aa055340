use std::collections::BTreeMap;

use rep_model::Skill;

use crate::draft::Findings;
use crate::field_checks::suggest_item_removal;
use crate::personal_mcp::find_personal_mcp_block;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "pmcp-alias-ambiguous",
    summary: "an alias of a reference is also the name of another one",
    since: "0.1.0",
    levels: RuleLevels { error: Profile::Pmcp.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::pmcp("repository metadata, references")],
    requirements: &["VAL-59"],
    page: include_str!("pmcp_alias_ambiguous.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let Some((file, block)) = find_personal_mcp_block(skill) else { return };
    let ids = block.references().iter().filter_map(|reference| reference.key.text());
    let mut taken: BTreeMap<&str, String> = ids.map(|id| (id, format!("the id of `{id}`"))).collect();
    for reference in block.references() {
        let id = reference.key.text().unwrap_or_default();
        for alias in block.reference_aliases(reference) {
            if let Some(owner) = taken.get(alias.value) {
                findings
                    .add(file, alias.span(), format!("alias `{}` is already {owner}", alias.value))
                    .with_data_path(format!("x-personal-mcp.references.{id}.aliases"))
                    .help("remove it, or give it to one reference only")
                    .with_optional_fix(suggest_item_removal(skill, reference.value.get("aliases"), alias.span()));
            } else {
                taken.insert(alias.value, format!("an alias of `{id}`"));
            }
        }
    }
}
