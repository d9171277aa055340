use rep_model::uasp::UaspView;
use rep_model::{Skill, names};

use crate::description::find_description;
use crate::draft::Findings;
use crate::profile::FORMAT;
use crate::scaffold::{DESCRIPTION_PLACEHOLDER, UASP_PLACEHOLDER};
use crate::{LintRule, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "placeholder-text",
    summary: "the description is the text of a template",
    since: "0.1.0",
    levels: RuleLevels { info: FORMAT, ..RuleLevels::NONE },
    citations: &[RuleCitation::agentskills("description field")],
    requirements: &["VAL-23"],
    page: include_str!("placeholder_text.md"),
    check: RuleCheck::Skill(check),
};

/// The starts of descriptions in the templates of other tools, in two parts because they are the marks of unfinished
/// work.
const FOREIGN_TEMPLATES: [&str; 3] =
    [concat!("[TO", "DO:"), concat!("TO", "DO:"), "Replace with description of the skill"];

const MESSAGE: &str = "`description` is still the text of the template";
const HELP: &str = "say what the skill does and when to use it, in words a user would use";

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    if let Some((manifest, description)) = find_description(skill) {
        let text = names::strip_whitespace(description.value);
        let is_template = text.starts_with(DESCRIPTION_PLACEHOLDER)
            || FOREIGN_TEMPLATES.iter().any(|template| text.starts_with(template));
        if is_template {
            findings.add(manifest.file, description.span(), MESSAGE).with_data_path("description").help(HELP);
        }
        return;
    }
    for uasp in &skill.uasp {
        let Some(description) = uasp.view().and_then(UaspView::description) else { continue };
        if description.value.ends_with(UASP_PLACEHOLDER) {
            findings.add(&uasp.file, description.span(), MESSAGE).with_data_path("meta.description").help(HELP);
        }
    }
}
