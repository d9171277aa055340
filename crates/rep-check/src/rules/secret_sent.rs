use rep_scan::{SignalKind, SkillScan};

use crate::draft::Findings;
use crate::scan_findings::report_signals;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "secret-sent",
    summary: "the skill sends a secret to a host that the secret does not belong to",
    since: "0.1.0",
    levels: RuleLevels { error: Profile::Security.as_set(), ..RuleLevels::NONE },
    citations: &[
        RuleCitation::own_project("scanning"),
        RuleCitation::owasp_skills("AST01"),
        RuleCitation::atlas("AML.TA0010"),
    ],
    requirements: &["SCAN-11"],
    page: include_str!("secret_sent.md"),
    check: RuleCheck::Scan(check),
};

fn check(scan: &SkillScan, findings: &mut Findings<'_>) {
    report_signals(scan, SignalKind::SecretSent, "send the secret only to the service that issued it", findings);
}
