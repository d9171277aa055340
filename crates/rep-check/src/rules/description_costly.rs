use rep_model::{Skill, names};

use crate::description::find_description;
use crate::draft::Findings;
use crate::profile::MARKDOWN;
use crate::token_estimate::estimate_tokens;
use crate::{LintRule, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "description-costly",
    summary: "`description` costs every conversation more than about 200 tokens",
    since: "0.1.0",
    levels: RuleLevels { info: MARKDOWN, ..RuleLevels::NONE },
    citations: &[RuleCitation::agentskills("progressive disclosure")],
    requirements: &["PD-06"],
    page: include_str!("description_costly.md"),
    check: RuleCheck::Skill(check),
};

/// The recommended maximum number of tokens of a skill in the catalog.
const TOKENS_RECOMMENDED: usize = 100;
/// More tokens than this are reported: much more than recommended.
const TOKENS_MAX: usize = 200;
/// The maximum length of a description. `description-too-long` reports longer ones.
const CHARS_MAX: usize = 1024;

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let Some((manifest, description)) = find_description(skill) else { return };
    let text = names::strip_whitespace(description.value);
    let tokens = estimate_tokens(text);
    if tokens <= TOKENS_MAX || names::count_chars(text) > CHARS_MAX {
        return;
    }
    let message = format!(
        "`description` is about {tokens} tokens (estimate) of every conversation; the recommended maximum is {TOKENS_RECOMMENDED}"
    );
    findings
        .add(manifest.file, description.span(), message)
        .help("say in one or two sentences what the skill does and when to use it; move the rest into the body");
}
