use rep_model::Skill;
use rep_model::frontmatter::{ScalarText, split_allowed_tools};
use rep_model::yaml::{YamlScalarStyle, YamlValue, quote_if_needed};

use crate::draft::Findings;
use crate::profile::REFERENCE;
use crate::{Level, LintRule, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "allowed-tools-commas",
    summary: "`allowed-tools` separates tools with commas",
    since: "0.1.0",
    levels: RuleLevels { warning: REFERENCE, automatic: Some(Level::Info), ..RuleLevels::NONE },
    citations: &[
        RuleCitation::agentskills("allowed-tools field"),
        RuleCitation::public_survey("§3: commas are the most common form"),
    ],
    requirements: &["VAL-33"],
    page: include_str!("allowed_tools_commas.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.frontmatter()) else { return };
    let Some(text) = front.get_text("allowed-tools") else { return };
    let pieces = split_at_commas(text.value);
    if pieces.len() < 2 {
        return;
    }
    let draft = findings
        .add(manifest.file, text.span(), "`allowed-tools` separates tools with commas")
        .with_data_path("allowed-tools")
        .help("separate tools with spaces");
    // A part with a space outside parentheses may be one tool or two; only the author knows.
    let tools: Vec<&str> = pieces.into_iter().map(str::trim).filter(|piece| !piece.is_empty()).collect();
    let is_clear = tools.iter().all(|tool| split_allowed_tools(tool) == [*tool]);
    let is_flow = matches!(front.root.value, YamlValue::Mapping { is_flow: true, .. });
    if is_clear
        && !is_flow
        && text.node.tag.is_none()
        && let Some(rewritten) = rewrite_in_quotes(manifest.source.slice(text.span()), text, &tools.join(" "))
    {
        draft.with_replacement(text.span(), rewritten);
    }
}

/// Splits text at the commas outside parentheses.
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

/// Returns the text in its original quotes, if it is on one line and has no escapes.
fn rewrite_in_quotes(source: &str, text: ScalarText<'_>, joined: &str) -> Option<String> {
    let quote = match text.node.style()? {
        YamlScalarStyle::Plain => return (source == text.value).then(|| quote_if_needed(joined)),
        YamlScalarStyle::SingleQuoted => "'",
        YamlScalarStyle::DoubleQuoted => "\"",
        YamlScalarStyle::Literal | YamlScalarStyle::Folded => return None,
    };
    let inner = source.strip_prefix(quote)?.strip_suffix(quote)?;
    (inner == text.value).then(|| format!("{quote}{joined}{quote}"))
}
