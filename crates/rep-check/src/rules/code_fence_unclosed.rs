use rep_model::{Skill, Span};

use crate::draft::Findings;
use crate::profile::MARKDOWN;
use crate::yaml_edits::line_end;
use crate::{LintRule, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "code-fence-unclosed",
    summary: "a code fence is not closed",
    since: "0.1.0",
    levels: RuleLevels { warning: MARKDOWN, ..RuleLevels::NONE },
    citations: &[RuleCitation::universal("anti-patterns, malformed examples")],
    requirements: &["VAL-72"],
    page: include_str!("code_fence_unclosed.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let Some(manifest) = &skill.manifest else { return };
    let mut open = manifest.outline().fences.iter().filter(|fence| !fence.is_closed);
    // A block in a list ends with its item. The fences after such a block pair up by indentation only, and
    // readers differ, so only a single fence that contains the rest of the file is certain.
    let (Some(fence), None) = (open.next(), open.next()) else { return };
    let body_end = manifest.body_span().start + manifest.body().trim_end().len();
    if fence.span.end >= body_end {
        let first_line = manifest.source.slice(fence.span).lines().next().map_or(0, str::len);
        let opening = Span::new(fence.span.start, fence.span.start + first_line);
        let draft = findings.add(manifest.file, opening, "the code block is not closed");
        draft.help("close it; if the block contains fences, use more backticks than they do");
        if let Some((at, text)) = close_fence(manifest.source.text(), opening) {
            draft.with_suggestion("close the code block at the end of the file", at, text);
        }
    }
}

/// Returns the edit that adds a closing fence at the end of the file, indented as the opening one.
fn close_fence(text: &str, opening: Span) -> Option<(Span, String)> {
    let start = text[..opening.start].rfind('\n').map_or(0, |at| at + 1);
    let indent = text[start..opening.start].bytes().take_while(|byte| *byte == b' ').count();
    let fence = text[start + indent..].trim_start_matches(['-', '*', '+', ' ']);
    let mark = fence.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    // In a quotation or a list, the closing fence needs the same prefix.
    if !text[start..].trim_start_matches(' ').starts_with(mark) {
        return None;
    }
    let marks: String = fence.chars().take_while(|letter| *letter == mark).collect();
    let line_end = line_end(text, opening.start);
    let separator = if text.ends_with('\n') { "" } else { line_end };
    Some((Span::empty_at(text.len()), format!("{separator}{}{marks}{line_end}", " ".repeat(indent))))
}
