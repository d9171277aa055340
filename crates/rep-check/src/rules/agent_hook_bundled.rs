use rep_scan::{SignalKind, SkillScan};

use crate::draft::Findings;
use crate::scan_findings::report_signals;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "agent-hook-bundled",
    summary: "a settings file of the skill starts code on events of the agent",
    since: "0.1.0",
    levels: RuleLevels { warning: Profile::Security.as_set(), ..RuleLevels::NONE },
    citations: &[
        RuleCitation::own_project("scanning"),
        RuleCitation::owasp_skills("AST04"),
        RuleCitation::atlas("AML.TA0006"),
    ],
    requirements: &["SCAN-11"],
    page: include_str!("agent_hook_bundled.md"),
    check: RuleCheck::Scan(check),
};

fn check(scan: &SkillScan, findings: &mut Findings<'_>) {
    report_signals(
        scan,
        SignalKind::AgentHook,
        "describe the hook in the instructions, and let the user add it to their own settings",
        findings,
    );
}
