use rep_scan::{SignalKind, SkillScan};

use crate::draft::Findings;
use crate::scan_findings::report_signals;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "file-not-scanned",
    summary: "a file was not scanned",
    since: "0.1.0",
    levels: RuleLevels { info: Profile::Security.as_set(), ..RuleLevels::NONE },
    citations: &[
        RuleCitation::own_project("scanning"),
        RuleCitation::owasp_skills("AST08"),
        RuleCitation::atlas("AML.TA0007"),
    ],
    requirements: &["SCAN-11"],
    page: include_str!("file_not_scanned.md"),
    check: RuleCheck::Scan(check),
};

fn check(scan: &SkillScan, findings: &mut Findings<'_>) {
    report_signals(scan, SignalKind::NotLookedAt, "review the file yourself", findings);
    report_signals(scan, SignalKind::DataNotRead, "look at it yourself if it matters", findings);
}
