use rep_scan::{SignalKind, SkillScan};

use crate::draft::Findings;
use crate::scan_findings::report_signals;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "host-anonymous",
    summary: "the skill uses a host without a known owner",
    since: "0.1.0",
    levels: RuleLevels { warning: Profile::Security.as_set(), ..RuleLevels::NONE },
    citations: &[
        RuleCitation::own_project("scanning"),
        RuleCitation::owasp_skills("AST01"),
        RuleCitation::atlas("AML.TA0014"),
    ],
    requirements: &["SCAN-11"],
    page: include_str!("host_anonymous.md"),
    check: RuleCheck::Scan(check),
};

fn check(scan: &SkillScan, findings: &mut Findings<'_>) {
    report_signals(scan, SignalKind::DropHost, "use a host with a name that belongs to the service", findings);
}
