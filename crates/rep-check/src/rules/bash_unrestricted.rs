use std::collections::BTreeSet;

use rep_model::Skill;
use rep_scan::{CapabilityKind, SignalKind, SkillScan};

use crate::allowed_tools::{allowed_tools, bash_pattern};
use crate::draft::Findings;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

/// A skill that uses more programs than this is not told to list them.
const PROGRAMS_MAX: usize = 6;

pub(super) static RULE: LintRule = LintRule {
    name: "bash-unrestricted",
    summary: "`allowed-tools` approves every program while the skill uses few",
    since: "0.1.0",
    levels: RuleLevels { info: Profile::Security.as_set(), ..RuleLevels::NONE },
    citations: &[
        RuleCitation::own_project("scanning"),
        RuleCitation::agentskills("allowed-tools"),
        RuleCitation::owasp_skills("AST03"),
    ],
    requirements: &["SCAN-08"],
    page: include_str!("bash_unrestricted.md"),
    check: RuleCheck::Declaration(check),
};

fn check(skill: &Skill, scan: &SkillScan, findings: &mut Findings<'_>) {
    let (Some(manifest), Some((span, tools))) = (&skill.manifest, allowed_tools(skill)) else { return };
    if !tools.iter().any(|tool| bash_pattern(tool) == Some("")) {
        return;
    }
    let capabilities = scan.capabilities();
    let programs: BTreeSet<&str> = capabilities.arguments(CapabilityKind::Spawn).collect();
    let is_partial = scan.signals_of(SignalKind::NotLookedAt).next().is_some();
    if programs.is_empty()
        || programs.len() > PROGRAMS_MAX
        || is_partial
        || programs.iter().any(|one| one.contains('*'))
    {
        return;
    }
    let used = programs.iter().map(|program| format!("`{program}`")).collect::<Vec<_>>().join(", ");
    let wanted = programs.iter().map(|program| format!("Bash({program}:*)")).collect::<Vec<_>>().join(" ");
    findings
        .add(manifest.file, span, format!("`Bash` approves every program, and the skill uses only {used}"))
        .help(format!("write `{wanted}`"));
}
