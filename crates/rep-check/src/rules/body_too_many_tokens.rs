use rep_model::{Skill, Span};

use crate::draft::Findings;
use crate::profile::MARKDOWN;
use crate::token_estimate::estimate_tokens;
use crate::{Level, LintRule, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "body-too-many-tokens",
    summary: "the instructions have more than about 5000 tokens",
    since: "0.1.0",
    levels: RuleLevels { warning: MARKDOWN, ..RuleLevels::NONE },
    citations: &[
        RuleCitation::agentskills("progressive disclosure"),
        RuleCitation::public_survey("§5: characters per token"),
    ],
    requirements: &["PKG-18"],
    page: include_str!("body_too_many_tokens.md"),
    check: RuleCheck::Skill(check),
};

/// The recommended maximum number of tokens of the instructions.
const TOKENS_MAX: usize = 5000;

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let Some(manifest) = &skill.manifest else { return };
    // By this estimate, a text has at most one token per four bytes.
    if manifest.body().len() / 4 <= TOKENS_MAX {
        return;
    }
    let tokens = estimate_tokens(manifest.body());
    if tokens > TOKENS_MAX {
        let message =
            format!("the instructions are about {tokens} tokens (estimate); the recommended maximum is {TOKENS_MAX}");
        let draft = findings.add(manifest.file, Span::empty_at(manifest.body_span().start), message);
        draft.help("move details into separate files and link to them");
        // Few authors shorten instructions that are a little too long.
        if tokens <= TOKENS_MAX * 3 / 2 {
            draft.only_when_selected();
        } else if tokens <= 2 * TOKENS_MAX {
            draft.level_when_detected(Level::Info);
        }
    }
}
