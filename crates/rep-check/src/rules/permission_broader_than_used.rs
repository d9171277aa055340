use rep_model::Skill;
use rep_scan::{CapabilityKind, SkillScan};

use crate::declaration::{SkillDeclaration, may_use_glob, may_use_host};
use crate::draft::Findings;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

/// A pattern that covers more different uses than this is as broad as it is meant to be.
const USES_MAX: usize = 3;

pub(super) static RULE: LintRule = LintRule {
    name: "permission-broader-than-used",
    summary: "a permission covers more than the skill uses",
    since: "0.1.0",
    levels: RuleLevels { info: Profile::Security.as_set(), ..RuleLevels::NONE },
    citations: &[
        RuleCitation::own_project("scanning"),
        RuleCitation::universal("§8, permissions"),
        RuleCitation::owasp_skills("AST03"),
    ],
    requirements: &["SCAN-08"],
    page: include_str!("permission_broader_than_used.md"),
    check: RuleCheck::Declaration(check),
};

fn check(skill: &Skill, scan: &SkillScan, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(declaration)) = (&skill.manifest, SkillDeclaration::from_skill(skill)) else { return };
    // What was not looked at may use the rest.
    if scan.is_partial() {
        return;
    }
    let capabilities = scan.capabilities();
    let globs = [(CapabilityKind::Read, &declaration.read), (CapabilityKind::Write, &declaration.write)];
    for (kind, (glob, span)) in globs.into_iter().flat_map(|(kind, known)| known.iter().map(move |one| (kind, one))) {
        let used = capabilities.arguments(kind).filter(|argument| may_use_glob(kind, argument, glob));
        if let Some(used) = glob.as_str().contains('*').then(|| list_few(used)).flatten() {
            findings
                .add(manifest.file, *span, format!("`{}` is declared, and only {used} is used", glob.as_str()))
                .help("declare what is used");
        }
    }
    for (rule, span) in declaration.outbound.iter().filter(|(rule, _)| rule.host.contains('*')) {
        let used = capabilities.arguments(CapabilityKind::Connect).filter(|argument| may_use_host(argument, rule));
        if let Some(used) = list_few(used) {
            findings
                .add(manifest.file, *span, format!("`{rule}` is declared, and only {used} is used"))
                .help("declare what is used");
        }
    }
}

/// Names a few uses that are known completely. Nothing if there is another one.
fn list_few<'a>(used: impl Iterator<Item = &'a str>) -> Option<String> {
    let used: Vec<&str> = used.take(USES_MAX + 1).collect();
    let is_few = !used.is_empty() && used.len() <= USES_MAX && used.iter().all(|argument| !argument.contains('*'));
    is_few.then(|| used.iter().map(|argument| format!("`{argument}`")).collect::<Vec<_>>().join(", "))
}
