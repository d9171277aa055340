use std::collections::BTreeSet;

use rep_model::Skill;
use rep_scan::{BehaviourKind, SkillScan};

use crate::allowed_tools::{allowed_tools, bash_pattern};
use crate::draft::Findings;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "program-not-approved",
    summary: "the instructions use a program that `allowed-tools` does not approve",
    since: "0.1.0",
    levels: RuleLevels { info: Profile::Security.as_set(), ..RuleLevels::NONE },
    citations: &[
        RuleCitation::own_project("scanning"),
        RuleCitation::agentskills("allowed-tools"),
        RuleCitation::owasp_skills("AST03"),
    ],
    requirements: &["SCAN-08"],
    page: include_str!("program_not_approved.md"),
    check: RuleCheck::Declaration(check),
};

fn check(skill: &Skill, scan: &SkillScan, findings: &mut Findings<'_>) {
    let Some((span, tools)) = allowed_tools(skill) else { return };
    // Without any approval of programs, the author leaves every one to the user.
    let patterns: Vec<&str> = tools.iter().filter_map(|tool| bash_pattern(tool)).collect();
    if patterns.is_empty() || patterns.contains(&"") {
        return;
    }
    let is_approved = |program: &str| {
        patterns.iter().any(|pattern| {
            let word = pattern.split([' ', ':', '*']).next().unwrap_or(pattern);
            word.is_empty() || word.rsplit('/').next() == Some(program)
        })
    };
    let mut reported = BTreeSet::new();
    for behaviour in scan.behaviours.iter().filter(|one| one.kind == BehaviourKind::Run && one.is_shown) {
        let program = behaviour.argument.as_str();
        if !program.contains('*') && !is_approved(program) && reported.insert(program) {
            let message = format!("shows `{program}`, which `allowed-tools` does not approve");
            findings
                .add(&behaviour.file, behaviour.span, message)
                .help(format!("add `Bash({program}:*)` if the agent has to start it"))
                .with_related(
                    skill.manifest.as_ref().map_or("SKILL.md", |manifest| manifest.file),
                    span,
                    "the approved tools",
                );
        }
    }
}
