use rep_model::frontmatter::ScalarText;
use rep_model::uasp::{FILE_SUFFIX, UaspView};
use rep_model::{Skill, names};

use crate::draft::Findings;
use crate::fix::FindingFix;
use crate::yaml_edits::{kebab_case, suggest_id};
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "uasp-name-hyphens",
    summary: "a name has a hyphen that is not followed by a word",
    since: "0.1.0",
    levels: RuleLevels { warning: Profile::Uasp.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::uasp("§5.1"), RuleCitation::agentskills("name field")],
    requirements: &["US-03"],
    page: include_str!("uasp_name_hyphens.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for uasp in &skill.uasp {
        let Some(name) = uasp.view().and_then(UaspView::name) else { continue };
        // Another rule reports a name that violates the UASP pattern.
        if !names::is_lowercase_id(name.value) || name.value.split('-').all(|part| !part.is_empty()) {
            continue;
        }
        findings
            .add(&uasp.file, name.span(), format!("name `{}` has a hyphen that is not followed by a word", name.value))
            .with_data_path("meta.name")
            .help("use single hyphens between words; other formats reject anything else")
            .with_optional_fix(suggest_name(skill, &uasp.file, name));
    }
}

/// Returns a fix that corrects the name, and the file's name if it is the same.
fn suggest_name(skill: &Skill, file: &str, name: ScalarText<'_>) -> Option<FindingFix> {
    let fix = suggest_id(skill, file, name.span(), name.value)?;
    if file != format!("{}{FILE_SUFFIX}", name.value) {
        return Some(fix);
    }
    let new_file = format!("{}{FILE_SUFFIX}", kebab_case(name.value));
    (!skill.tree.entries.contains_key(&new_file)).then(|| fix.rename(file, &new_file))
}
