use rep_model::Skill;
use rep_model::uasp::UaspView;

use crate::draft::Findings;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "uasp-template-empty",
    summary: "a template has neither a path nor inline text",
    since: "0.1.0",
    levels: RuleLevels { info: Profile::Uasp.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::uasp("§5.10")],
    requirements: &["US-33"],
    page: include_str!("uasp_template_empty.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for uasp in &skill.uasp {
        for template in uasp.view().map(UaspView::template_entries).unwrap_or_default() {
            let name = template.key.text().unwrap_or("?");
            let has = |field: &str| template.value.get(field).is_some();
            if template.value.entries().is_some() && !has("path") && !has("inline") {
                findings
                    .add(&uasp.file, template.key.span, format!("template `{name}` has neither `path` nor `inline`"))
                    .with_data_path(format!("templates.{name}"))
                    .help("set `path` to the script, or write it under `inline`");
            }
        }
    }
}
