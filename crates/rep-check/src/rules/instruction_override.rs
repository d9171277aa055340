use rep_scan::{SignalKind, SkillScan};

use crate::draft::Findings;
use crate::scan_findings::report_signals;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "instruction-override",
    summary: "an instruction wants earlier ones ignored",
    since: "0.1.0",
    levels: RuleLevels { warning: Profile::Security.as_set(), ..RuleLevels::NONE },
    citations: &[
        RuleCitation::own_project("scanning"),
        RuleCitation::owasp_skills("AST05"),
        RuleCitation::atlas("AML.TA0005"),
    ],
    requirements: &["SCAN-11"],
    page: include_str!("instruction_override.md"),
    check: RuleCheck::Scan(check),
};

fn check(scan: &SkillScan, findings: &mut Findings<'_>) {
    report_signals(
        scan,
        SignalKind::OverrideInstruction,
        "remove the sentence, or describe the attack in other words",
        findings,
    );
}
