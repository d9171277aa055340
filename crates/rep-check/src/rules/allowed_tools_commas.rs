use rep_model::Skill;
use rep_model::frontmatter::{Text, split_allowed_tools};
use rep_model::yaml::{Style, Value, quote_if_needed};

use crate::engine::Findings;
use crate::profile::REFERENCE;
use crate::{Check, Cite, Levels, Rule};

pub(super) static RULE: Rule = Rule {
    name: "allowed-tools-commas",
    summary: "`allowed-tools` has commas between tools",
    since: "0.1.0",
    levels: Levels { warning: REFERENCE, ..Levels::NONE },
    cites: &[Cite::agentskills("allowed-tools field"), Cite::evidence("§3: commas are the most common form")],
    requirements: &["VAL-33"],
    page: include_str!("allowed_tools_commas.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.front()) else { return };
    let Some(text) = front.text("allowed-tools") else { return };
    let pieces = split_at_commas(text.value);
    if pieces.len() < 2 {
        return;
    }
    let draft = findings
        .add(manifest.file, text.span(), "allowed-tools has commas between tools")
        .path("allowed-tools")
        .help("put a blank between tools instead");
    // A piece with a blank in it may be one tool or two; only its author knows.
    let tools: Vec<&str> = pieces.into_iter().map(str::trim).filter(|piece| !piece.is_empty()).collect();
    let is_clear = tools.iter().all(|tool| split_allowed_tools(tool) == [*tool]);
    let is_flow = matches!(front.root.value, Value::Mapping { is_flow: true, .. });
    if is_clear
        && !is_flow
        && text.node.tag.is_none()
        && let Some(rewritten) = rewrite(manifest.source.slice(text.span()), text, &tools.join(" "))
    {
        draft.replace(text.span(), rewritten);
    }
}

/// The pieces between the commas outside parentheses.
fn split_at_commas(value: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    let is_gap = |letter: char| {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        letter == ',' && depth == 0
    };
    value.split(is_gap).collect()
}

/// The text in the quotes it has, where it is written on one line and without escapes.
fn rewrite(source: &str, text: Text<'_>, joined: &str) -> Option<String> {
    let quote = match text.node.style()? {
        Style::Plain => return (source == text.value).then(|| quote_if_needed(joined)),
        Style::SingleQuoted => "'",
        Style::DoubleQuoted => "\"",
        Style::Literal | Style::Folded => return None,
    };
    let inner = source.strip_prefix(quote)?.strip_suffix(quote)?;
    (inner == text.value).then(|| format!("{quote}{joined}{quote}"))
}
