use rep_model::uasp::FILE_SUFFIX;
use rep_model::{Skill, Span};

use crate::draft::Findings;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "uasp-file-missing",
    summary: "the skill has no UASP file",
    since: "0.1.0",
    levels: RuleLevels { error: Profile::Uasp.as_set(), ..RuleLevels::NONE },
    citations: &[RuleCitation::uasp("§3.2")],
    requirements: &["PKG-29"],
    page: include_str!("uasp_file_missing.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    // Another rule reports a file that exists but could not be read.
    if skill.tree.entries.keys().any(|path| path.ends_with(FILE_SUFFIX) && !path.contains('/')) {
        return;
    }
    findings
        .add("", Span::default(), format!("the skill has no `*{FILE_SUFFIX}` file"))
        .help(format!("add `<name>{FILE_SUFFIX}` next to SKILL.md, or do not select the profile `uasp`"));
}
