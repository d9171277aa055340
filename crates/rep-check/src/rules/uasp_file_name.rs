use rep_model::uasp::{FILE_SUFFIX, UaspView};
use rep_model::{Skill, names};

use crate::draft::Findings;
use crate::fix::FindingFix;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "uasp-file-name",
    summary: "a UASP file is not named after its skill",
    since: "0.1.0",
    levels: RuleLevels { warning: Profile::Uasp.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::uasp("§3.2")],
    requirements: &["PKG-29"],
    page: include_str!("uasp_file_name.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for uasp in &skill.uasp {
        let Some(name) = uasp.view().and_then(UaspView::name).filter(|name| name.is_text()) else { continue };
        let wanted = format!("{}{FILE_SUFFIX}", name.value);
        if uasp.file != wanted && names::is_lowercase_id(name.value) {
            findings
                .add(&uasp.file, name.span(), format!("the skill is `{}` but the file is `{}`", name.value, uasp.file))
                .with_data_path("meta.name")
                .help(format!("rename the file to `{wanted}`, or change the name"))
                .with_optional_fix((!skill.tree.entries.contains_key(&wanted)).then(|| {
                    FindingFix::suggestion(format!("rename the file to `{wanted}`")).rename(&uasp.file, &wanted)
                }));
        }
    }
}
