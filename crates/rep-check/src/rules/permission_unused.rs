use rep_model::{Skill, Span};
use rep_scan::{CapabilityKind, SkillScan};

use crate::declaration::SkillDeclaration;
use crate::draft::Findings;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "permission-unused",
    summary: "a permission that nothing in the skill needs",
    since: "0.1.0",
    levels: RuleLevels { info: Profile::Security.as_set(), ..RuleLevels::NONE },
    citations: &[
        RuleCitation::own_project("scanning"),
        RuleCitation::universal("§8, permissions"),
        RuleCitation::owasp_skills("AST03"),
    ],
    requirements: &["SCAN-08"],
    page: include_str!("permission_unused.md"),
    check: RuleCheck::Declaration(check),
};

fn check(skill: &Skill, scan: &SkillScan, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(declaration)) = (&skill.manifest, SkillDeclaration::from_skill(skill)) else { return };
    // What was not looked at may need anything.
    if scan.is_partial() || scan.behaviours.is_empty() {
        return;
    }
    let capabilities = scan.capabilities();
    let mut report = |span: Span, message: String| {
        findings.add(manifest.file, span, message).help("remove it if no tool of the skill needs it");
    };
    for (kind, does, known) in
        [(CapabilityKind::Read, "reads", &declaration.read), (CapabilityKind::Write, "writes", &declaration.write)]
    {
        for (glob, span) in known {
            if !capabilities.arguments(kind).any(|argument| crate::declaration::may_use_glob(kind, argument, glob)) {
                report(*span, format!("no code of the skill {does} `{}`", glob.as_str()));
            }
        }
    }
    for (rule, span) in &declaration.outbound {
        let mut hosts = capabilities.arguments(CapabilityKind::Connect);
        if !hosts.any(|argument| crate::declaration::may_use_host(argument, rule)) {
            report(*span, format!("no code of the skill connects to `{rule}`"));
        }
    }
    if let Some(span) = declaration.subprocess_span.filter(|_| declaration.allow_subprocess)
        && capabilities.arguments(CapabilityKind::Spawn).next().is_none()
    {
        report(span, "no code of the skill starts a program".to_owned());
    }
}
