use rep_model::{Skill, Span};

use crate::engine::Findings;
use crate::profile::MARKDOWN;
use crate::tokens::estimate;
use crate::{Check, Cite, Levels, Rule};

pub(super) static RULE: Rule = Rule {
    name: "body-too-many-tokens",
    summary: "instructions of more than about 5000 tokens",
    since: "0.1.0",
    levels: Levels { warning: MARKDOWN, ..Levels::NONE },
    cites: &[Cite::agentskills("progressive disclosure"), Cite::evidence("§5: characters per token")],
    requirements: &["PKG-18"],
    page: include_str!("body_too_many_tokens.md"),
    check: Check::Skill(check),
};

/// The tokens instructions should not go beyond.
const TOKENS_MAX: usize = 5000;

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let Some(manifest) = &skill.manifest else { return };
    // No text has more tokens than a quarter of its bytes by this estimate.
    if manifest.body().len() / 4 <= TOKENS_MAX {
        return;
    }
    let tokens = estimate(manifest.body());
    if tokens > TOKENS_MAX {
        let message = format!("the instructions are about {tokens} tokens (estimate), more than {TOKENS_MAX}");
        findings
            .add(manifest.file, Span::at(manifest.body_span().start), message)
            .help("move detail into files of their own, and link to them where they are needed");
    }
}
