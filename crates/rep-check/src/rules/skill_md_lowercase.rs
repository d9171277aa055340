use rep_model::{Skill, Span};

use crate::draft::Findings;
use crate::fix::FindingFix;
use crate::profile::MARKDOWN;
use crate::{LintRule, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "skill-md-lowercase",
    summary: "the file is named `skill.md` instead of `SKILL.md`",
    since: "0.1.0",
    levels: RuleLevels { warning: MARKDOWN, ..RuleLevels::NONE },
    citations: &[
        RuleCitation::client_guide("discovery"),
        RuleCitation::reference_tool("the file it looks for"),
        RuleCitation::public_survey("§2: 479 files named so"),
    ],
    requirements: &["PKG-07", "PKG-08"],
    page: include_str!("skill_md_lowercase.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let Some(manifest) = skill.manifest.as_ref().filter(|manifest| manifest.file == "skill.md") else { return };
    findings
        .add(manifest.file, Span::default(), "the file is named `skill.md`; hosts look for `SKILL.md`")
        .help("rename it to exactly `SKILL.md`")
        .with_fix(FindingFix::safe("rename it to `SKILL.md`").rename(manifest.file, "SKILL.md"));
}
