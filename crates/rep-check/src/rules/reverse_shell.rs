use rep_scan::{SignalKind, SkillScan};

use crate::draft::Findings;
use crate::scan_findings::report_signals;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "reverse-shell",
    summary: "the skill connects a shell to the network",
    since: "0.1.0",
    levels: RuleLevels { error: Profile::Security.as_set(), ..RuleLevels::NONE },
    citations: &[
        RuleCitation::own_project("scanning"),
        RuleCitation::owasp_skills("AST01"),
        RuleCitation::atlas("AML.TA0014"),
    ],
    requirements: &["SCAN-11"],
    page: include_str!("reverse_shell.md"),
    check: RuleCheck::Scan(check),
};

fn check(scan: &SkillScan, findings: &mut Findings<'_>) {
    report_signals(
        scan,
        SignalKind::ReverseShell,
        "remove it; a skill has no use for a shell that others control",
        findings,
    );
}
