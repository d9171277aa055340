use std::collections::BTreeMap;

use rep_model::uasp::Uasp;
use rep_model::yaml::{Entry, Node, core};
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
        let Some(view) = uasp.view() else { continue };
        for workflow in view.workflows() {
            for (span, path, message) in illegal(view, workflow) {
                findings
                    .add(&uasp.file, span, message)
                    .path(path)
                    .help("put a step before it that makes the entity again, or correct what the commands invalidate");
            }
        }
    }
}

/// The steps that can never run, whatever the state was before: something they need was ended and not made again.
fn illegal(view: Uasp<'_>, workflow: &Entry) -> Vec<(Span, String, String)> {
    let steps = workflow.value.get("steps").and_then(Node::items).unwrap_or(&[]);
    let name = workflow.key.text().unwrap_or_default();
    // The entities that are surely invalid, and the step that ended each.
    let mut ended: BTreeMap<&str, usize> = BTreeMap::new();
    let mut found = Vec::new();
    for (number, step) in steps.iter().enumerate() {
        let Some(cmd) = step.get("cmd") else { continue };
        let Some(command) = cmd.text().and_then(|text| view.command_of_step(text)) else {
            // Free text may stand for anything, also for making what is missing.
            ended.clear();
            continue;
        };
        for entity in names(command, "requires") {
            if let Some(ender) = ended.get(entity) {
                let message = format!("this step needs `{entity}`, which step {} ended", ender + 1);
                found.push((cmd.span, format!("workflows.{name}.steps[{number}]"), message));
            }
        }
        for entity in names(command, "creates") {
            ended.remove(entity);
        }
        let is_optional = step.get("optional").and_then(core::scalar) == Some(core::Scalar::Bool(true));
        // A step that may be left out ends nothing for sure.
        if !is_optional {
            ended.extend(names(command, "invalidates").map(|entity| (entity, number)));
        }
    }
    found
}

fn names<'a>(command: &'a Entry, key: &str) -> impl Iterator<Item = &'a str> {
    command.value.get(key).and_then(Node::items).unwrap_or(&[]).iter().filter_map(Node::text)
}
