use std::collections::BTreeSet;

use rep_model::Skill;
use rep_scan::{BehaviourKind, CapabilityKind, SkillScan};

use crate::declaration::SkillDeclaration;
use crate::draft::Findings;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "permission-undeclared",
    summary: "the skill does something that its `permissions` do not cover",
    since: "0.1.0",
    levels: RuleLevels { warning: Profile::Security.as_set(), ..RuleLevels::NONE },
    citations: &[
        RuleCitation::own_project("scanning"),
        RuleCitation::universal("§8, permissions"),
        RuleCitation::owasp_skills("AST03"),
    ],
    requirements: &["SCAN-08"],
    page: include_str!("permission_undeclared.md"),
    check: RuleCheck::Declaration(check),
};

fn check(skill: &Skill, scan: &SkillScan, findings: &mut Findings<'_>) {
    let Some(declaration) = SkillDeclaration::from_skill(skill) else { return };
    let mut reported = BTreeSet::new();
    for behaviour in &scan.behaviours {
        let Some(kind) = behaviour.kind.capability() else { continue };
        let Some(missing) = declaration.find_missing(kind, &behaviour.argument) else { continue };
        let subject = if kind == CapabilityKind::Spawn { "" } else { behaviour.argument.as_str() };
        if !reported.insert((kind, subject)) {
            continue;
        }
        let does = match kind {
            CapabilityKind::Read => "reads",
            CapabilityKind::Write if behaviour.kind == BehaviourKind::Delete => "removes",
            CapabilityKind::Write => "writes",
            CapabilityKind::Connect => "connects to",
            CapabilityKind::Spawn => "starts",
            CapabilityKind::Env | CapabilityKind::Secrets => "uses the secret",
        };
        let message = format!("{does} `{}`, and `{}` does not declare it", behaviour.argument, missing.field());
        findings
            .add(&behaviour.file, behaviour.span, message)
            .help("declare it, or remove the code; `rep scan --declare --write` declares everything")
            .with_data_path(missing.field())
            .with_optional_fix(missing.suggest_fix(skill));
    }
}
