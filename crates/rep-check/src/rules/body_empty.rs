use rep_model::{Skill, Span};

use crate::draft::Findings;
use crate::profile::MARKDOWN;
use crate::{LintRule, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "body-empty",
    summary: "SKILL.md has no instructions",
    since: "0.1.0",
    levels: RuleLevels { info: MARKDOWN, ..RuleLevels::NONE },
    citations: &[RuleCitation::agentskills("body content")],
    requirements: &["PKG-21"],
    page: include_str!("body_empty.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let Some(manifest) = skill.manifest.as_ref().filter(|manifest| manifest.parts.is_some()) else { return };
    if manifest.body().trim().is_empty() {
        findings
            .add(manifest.file, Span::empty_at(manifest.body_span().start), "no instructions after the frontmatter")
            .help("describe the steps, with an example");
    }
}
