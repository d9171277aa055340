use rep_scan::{SignalKind, SkillScan};

use crate::draft::Findings;
use crate::scan_findings::report_signals;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "privilege-raised",
    summary: "the skill raises privileges",
    since: "0.1.0",
    levels: RuleLevels { warning: Profile::Security.as_set(), ..RuleLevels::NONE },
    citations: &[
        RuleCitation::own_project("scanning"),
        RuleCitation::owasp_skills("AST03"),
        RuleCitation::atlas("AML.TA0012"),
    ],
    requirements: &["SCAN-11"],
    page: include_str!("privilege_raised.md"),
    check: RuleCheck::Scan(check),
};

fn check(scan: &SkillScan, findings: &mut Findings<'_>) {
    report_signals(scan, SignalKind::PrivilegeRaised, "work with the rights of the user", findings);
}
