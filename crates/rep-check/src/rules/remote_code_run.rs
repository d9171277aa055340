use rep_scan::{SignalKind, SkillScan};

use crate::draft::Findings;
use crate::scan_findings::report_signals;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "remote-code-run",
    summary: "the skill runs code that a foreign host sends",
    since: "0.1.0",
    levels: RuleLevels { error: Profile::Security.as_set(), ..RuleLevels::NONE },
    citations: &[
        RuleCitation::own_project("scanning"),
        RuleCitation::owasp_skills("AST02"),
        RuleCitation::atlas("AML.TA0005"),
    ],
    requirements: &["SCAN-11"],
    page: include_str!("remote_code_run.md"),
    check: RuleCheck::Scan(check),
};

fn check(scan: &SkillScan, findings: &mut Findings<'_>) {
    report_signals(
        scan,
        SignalKind::RemoteCodeRun,
        "download a pinned version, verify its digest, and run it in a step of its own",
        findings,
    );
}
