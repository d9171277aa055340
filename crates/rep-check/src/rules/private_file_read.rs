use rep_scan::{SignalKind, SkillScan};

use crate::draft::Findings;
use crate::scan_findings::report_signals;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "private-file-read",
    summary: "the skill reads a private file",
    since: "0.1.0",
    levels: RuleLevels { warning: Profile::Security.as_set(), ..RuleLevels::NONE },
    citations: &[
        RuleCitation::own_project("scanning"),
        RuleCitation::owasp_skills("AST03"),
        RuleCitation::atlas("AML.TA0013"),
    ],
    requirements: &["SCAN-11"],
    page: include_str!("private_file_read.md"),
    check: RuleCheck::Scan(check),
};

fn check(scan: &SkillScan, findings: &mut Findings<'_>) {
    report_signals(
        scan,
        SignalKind::PrivateFileRead,
        "let the tool that owns the file read it, or say in the description why the skill needs it",
        findings,
    );
}
