use rep_scan::{SignalKind, SkillScan};

use crate::draft::Findings;
use crate::scan_findings::report_signals;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "install-hook-present",
    summary: "a package of the skill runs a program when it is installed",
    since: "0.1.0",
    levels: RuleLevels { warning: Profile::Security.as_set(), ..RuleLevels::NONE },
    citations: &[
        RuleCitation::own_project("scanning"),
        RuleCitation::owasp_skills("AST02"),
        RuleCitation::atlas("AML.TA0005"),
    ],
    requirements: &["SCAN-11"],
    page: include_str!("install_hook_present.md"),
    check: RuleCheck::Scan(check),
};

fn check(scan: &SkillScan, findings: &mut Findings<'_>) {
    report_signals(scan, SignalKind::InstallHook, "start the program in a step that the user sees", findings);
}
