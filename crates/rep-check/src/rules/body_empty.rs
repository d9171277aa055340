use rep_model::{Skill, Span};

use crate::engine::Findings;
use crate::profile::MARKDOWN;
use crate::{Check, Cite, Levels, Rule};

pub(super) static RULE: Rule = Rule {
    name: "body-empty",
    summary: "a SKILL.md without instructions",
    since: "0.1.0",
    levels: Levels { info: MARKDOWN, ..Levels::NONE },
    cites: &[Cite::agentskills("body content")],
    requirements: &["PKG-21"],
    page: include_str!("body_empty.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let Some(manifest) = skill.manifest.as_ref().filter(|manifest| manifest.parts.is_some()) else { return };
    if manifest.body().trim().is_empty() {
        findings
            .add(manifest.file, Span::at(manifest.body_span().start), "there are no instructions after the frontmatter")
            .help("say what to do, step by step, with an example");
    }
}
