use rep_model::frontmatter::{read_text, split_allowed_tools};
use rep_model::yaml::{YamlNode, YamlValue, quote_if_needed};
use rep_model::{Skill, Span};

use crate::draft::Findings;
use crate::profile::STANDARD;
use crate::{LintRule, Profile, RuleCheck, RuleCitation, RuleLevels};

pub(super) static RULE: LintRule = LintRule {
    name: "allowed-tools-list",
    summary: "`allowed-tools` is a list",
    since: "0.1.0",
    levels: RuleLevels { warning: STANDARD.union(Profile::Aam.as_set()), ..RuleLevels::NONE },
    citations: &[
        RuleCitation::agentskills("allowed-tools field"),
        RuleCitation::public_survey("§3: lists are the second most common form"),
    ],
    requirements: &["VAL-33", "VAL-34"],
    page: include_str!("allowed_tools_list.md"),
    check: RuleCheck::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.frontmatter()) else { return };
    let Some(entry) = front.find_field("allowed-tools") else { return };
    let Some(items) = entry.value.items() else { return };
    let draft = findings
        .add(manifest.file, entry.value.span, "`allowed-tools` is a list, not text")
        .with_data_path("allowed-tools")
        .help(match items.iter().filter_map(YamlNode::text).find(|item| item.contains(char::is_whitespace)) {
            Some(item) => format!(
                "write one string with spaces between tools; `{item}` contains a space, where strict hosts split it"
            ),
            None => "write one string with spaces between tools".to_owned(),
        })
        // Claude Code documents lists.
        .only_when_selected();
    let after_key = Span::new(entry.key.span.end, entry.value.span.start);
    let whole = Span::new(after_key.start, entry.value.span.end);
    // A comment, an anchor or a tag between the items would be lost.
    let is_plain = manifest.source.slice(after_key).trim() == ":"
        && !front.comments.iter().any(|comment| whole.contains(comment.start))
        && !matches!(front.root.value, YamlValue::Mapping { is_flow: true, .. });
    if let Some(joined) = join_tools(items).filter(|_| is_plain) {
        draft.with_replacement(whole, format!(": {}", quote_if_needed(&joined)));
    }
}

/// Joins the items into one text, if each item remains a separate entry in it. The specification separates entries with
/// spaces and has no quotes, so an item such as `Bash(git *)` would become two for a host that follows it literally.
fn join_tools(items: &[YamlNode]) -> Option<String> {
    let is_split = |letter: char| letter.is_control() || letter.is_whitespace();
    let is_entry = |item: &&str| split_allowed_tools(item) == [*item] && !item.contains(is_split);
    let entries: Option<Vec<&str>> = items
        .iter()
        .map(|item| read_text(item).filter(|text| text.is_text() && item.tag.is_none()).map(|text| text.value))
        .map(|item| item.filter(is_entry))
        .collect();
    entries.filter(|entries| !entries.is_empty()).map(|entries| entries.join(" ")).filter(|joined| {
        // An open parenthesis in one item would include the next item.
        split_allowed_tools(joined).len() == items.len()
    })
}
