use rep_scan::{SignalKind, SkillScan};

use crate::draft::Findings;
use crate::scan_findings::report_signals;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "metadata-service-read",
    summary: "the skill asks a cloud for the credentials of the machine",
    since: "0.1.0",
    levels: RuleLevels { warning: Profile::Security.as_set(), ..RuleLevels::NONE },
    citations: &[
        RuleCitation::own_project("scanning"),
        RuleCitation::owasp_skills("AST06"),
        RuleCitation::atlas("AML.TA0013"),
    ],
    requirements: &["SCAN-11"],
    page: include_str!("metadata_service_read.md"),
    check: RuleCheck::Scan(check),
};

fn check(scan: &SkillScan, findings: &mut Findings<'_>) {
    report_signals(
        scan,
        SignalKind::MetadataServiceRead,
        "read credentials from a variable that the user sets",
        findings,
    );
}
