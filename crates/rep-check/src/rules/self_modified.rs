use rep_scan::{SignalKind, SkillScan};

use crate::draft::Findings;
use crate::scan_findings::report_signals;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "self-modified",
    summary: "the skill changes its own instructions",
    since: "0.1.0",
    levels: RuleLevels { warning: Profile::Security.as_set(), ..RuleLevels::NONE },
    citations: &[
        RuleCitation::own_project("scanning"),
        RuleCitation::owasp_skills("AST07"),
        RuleCitation::atlas("AML.TA0006"),
    ],
    requirements: &["SCAN-11"],
    page: include_str!("self_modified.md"),
    check: RuleCheck::Scan(check),
};

fn check(scan: &SkillScan, findings: &mut Findings<'_>) {
    report_signals(scan, SignalKind::SelfModified, "write state into a directory outside of the skill", findings);
}
