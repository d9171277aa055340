use rep_scan::{SignalKind, SkillScan};

use crate::draft::Findings;
use crate::scan_findings::report_signals;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "package-run-unpinned",
    summary: "the skill runs the newest version of a package without asking",
    since: "0.1.0",
    levels: RuleLevels { info: Profile::Security.as_set(), ..RuleLevels::NONE },
    citations: &[
        RuleCitation::own_project("scanning"),
        RuleCitation::owasp_skills("AST02"),
        RuleCitation::atlas("AML.TA0004"),
    ],
    requirements: &["SCAN-11"],
    page: include_str!("package_run_unpinned.md"),
    check: RuleCheck::Scan(check),
};

fn check(scan: &SkillScan, findings: &mut Findings<'_>) {
    report_signals(scan, SignalKind::UnpinnedPackageRun, "name the version: `npx --yes notes@1.2.3`", findings);
}
