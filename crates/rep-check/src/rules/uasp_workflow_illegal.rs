use std::collections::BTreeMap;

use rep_model::uasp::{Sections, Workflow};
use rep_model::{Skill, Span};

use crate::engine::Findings;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "uasp-workflow-illegal",
    summary: "a workflow has a step that can never run",
    since: "0.1.0",
    levels: Levels { warning: Profile::Uasp.as_set(), ..Levels::NONE },
    cites: &[Cite::uasp("§5.8, workflows"), Cite::uasp("§9.3, state management")],
    requirements: &["UX-04", "UX-15"],
    page: include_str!("uasp_workflow_illegal.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    for uasp in &skill.uasp {
        let Some(document) = uasp.document() else { continue };
        for workflow in &document.sections.workflows {
            for (span, path, message) in illegal(&document.sections, workflow) {
                findings
                    .add(&uasp.file, span, message)
                    .path(path)
                    .help("put a step before it that makes the entity again, or correct what the commands invalidate");
            }
        }
    }
}

/// The steps that can never run, whatever the state was before: something they need was ended and not made again.
fn illegal(sections: &Sections, workflow: &Workflow) -> Vec<(Span, String, String)> {
    // The entities that are surely invalid, and the step that ended each.
    let mut ended: BTreeMap<&str, usize> = BTreeMap::new();
    let mut found = Vec::new();
    for (number, step) in workflow.steps.iter().enumerate() {
        let Some(text) = &step.command else { continue };
        let words: Vec<&str> = text.split_whitespace().collect();
        let Some(command) = sections.commands.find_by_step(&words) else {
            // Free text may stand for anything, also for making what is missing.
            ended.clear();
            continue;
        };
        for entity in &command.requires {
            if let Some(ender) = ended.get(&**entity) {
                let message = format!("this step needs `{entity}`, which step {} ended", ender + 1);
                found.push((text.place(), format!("workflows.{}.steps[{number}]", workflow.name), message));
            }
        }
        for entity in &command.creates {
            ended.remove(&**entity);
        }
        // A step that may be left out ends nothing for sure.
        if !step.is_optional {
            ended.extend(command.invalidates.iter().map(|entity| (&**entity, number)));
        }
    }
    found
}
