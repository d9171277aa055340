use rep_model::{Skill, Span};

use crate::engine::Findings;
use crate::profile::MARKDOWN;
use crate::{Check, Cite, Levels, Rule};

pub(super) static RULE: Rule = Rule {
    name: "code-fence-unclosed",
    summary: "a code fence that nothing closes",
    since: "0.1.0",
    levels: Levels { warning: MARKDOWN, ..Levels::NONE },
    cites: &[Cite::universal("anti-patterns, malformed examples")],
    requirements: &["VAL-72"],
    page: include_str!("code_fence_unclosed.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let Some(manifest) = &skill.manifest else { return };
    let mut open = manifest.outline().fences.iter().filter(|fence| !fence.is_closed);
    // A block in a list ends with its item. Where one did, the fences after it pair up by indentation alone, and
    // readers differ; so only a single fence that swallows the rest of the file is certain.
    let (Some(fence), None) = (open.next(), open.next()) else { return };
    let body_end = manifest.body_span().start + manifest.body().trim_end().len();
    if fence.span.end >= body_end {
        let first_line = manifest.source.slice(fence.span).lines().next().map_or(0, str::len);
        let opening = Span::new(fence.span.start, fence.span.start + first_line);
        findings
            .add(manifest.file, opening, "the code block is never closed")
            .help("close it; where a block shows fences itself, give it more backticks than they have");
    }
}
