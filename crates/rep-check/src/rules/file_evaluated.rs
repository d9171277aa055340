use rep_scan::{SignalKind, SkillScan};

use crate::draft::Findings;
use crate::scan_findings::report_signals;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "file-evaluated",
    summary: "the skill runs code from a temporary file that it did not write",
    since: "0.1.0",
    levels: RuleLevels { error: Profile::Security.as_set(), ..RuleLevels::NONE },
    citations: &[
        RuleCitation::own_project("scanning"),
        RuleCitation::owasp_skills("AST01"),
        RuleCitation::atlas("AML.TA0005"),
    ],
    requirements: &["SCAN-11"],
    page: include_str!("file_evaluated.md"),
    check: RuleCheck::Scan(check),
};

fn check(scan: &SkillScan, findings: &mut Findings<'_>) {
    report_signals(scan, SignalKind::FileEvaluated, "run a script of the skill", findings);
}
