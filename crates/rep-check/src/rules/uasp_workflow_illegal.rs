use std::collections::BTreeMap;

use rep_model::uasp::{StateEffects, UaspSections, UaspWorkflow};
use rep_model::{Skill, Span};

use crate::draft::Findings;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "uasp-workflow-illegal",
    summary: "a workflow step can never run",
    since: "0.1.0",
    levels: RuleLevels { warning: Profile::Uasp.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::uasp("§5.8, workflows"), RuleCitation::uasp("§9.3, state management")],
    requirements: &["UX-04", "UX-15"],
    page: include_str!("uasp_workflow_illegal.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for uasp in &skill.uasp {
        let Some(document) = uasp.document() else { continue };
        let effects = StateEffects::from_sections(&document.sections);
        for workflow in &document.sections.workflows {
            for (span, path, message) in find_illegal_steps(&document.sections, &effects, workflow) {
                findings
                    .add(&uasp.file, span, message)
                    .with_data_path(path)
                    .help("add a step before it that creates the entity again, or fix what the commands and entities invalidate");
            }
        }
    }
}

/// Returns the steps that can never run: an entity that they require was invalidated and not created again.
fn find_illegal_steps(
    sections: &UaspSections,
    all_effects: &StateEffects<'_>,
    workflow: &UaspWorkflow,
) -> Vec<(Span, String, String)> {
    // The entities that are certainly invalid, and the step that invalidated each.
    let mut ended: BTreeMap<&str, usize> = BTreeMap::new();
    let mut found = Vec::new();
    for (number, step) in workflow.steps.iter().enumerate() {
        let Some(text) = &step.command else { continue };
        let words: Vec<&str> = text.split_whitespace().collect();
        let Some(command) = sections.commands.find_by_step(&words) else {
            // Free text may mean anything, including the creation of a missing entity.
            ended.clear();
            continue;
        };
        let Some(effects) = all_effects.get(&command.path) else { continue };
        for entity in &effects.requires {
            if let Some(ender) = ended.get(entity) {
                let message = format!("this step requires `{entity}`, which step {} invalidated", ender + 1);
                found.push((text.span_or_start(), format!("workflows.{}.steps[{number}]", workflow.name), message));
            }
        }
        for entity in effects.made_names().chain(effects.completes.iter().copied()) {
            ended.remove(entity);
        }
        // An optional step does not certainly invalidate anything.
        if !step.is_optional {
            ended.extend(effects.invalidates.iter().map(|entity| (*entity, number)));
        }
    }
    found
}
