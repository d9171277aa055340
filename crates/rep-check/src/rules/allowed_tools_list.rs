use rep_model::frontmatter::{split_allowed_tools, text};
use rep_model::yaml::{Node, Value, quote_if_needed};
use rep_model::{Skill, Span};

use crate::engine::Findings;
use crate::profile::STANDARD;
use crate::{Check, Cite, Levels, Profile, Rule};

pub(super) static RULE: Rule = Rule {
    name: "allowed-tools-list",
    summary: "`allowed-tools` is a list",
    since: "0.1.0",
    levels: Levels { warning: STANDARD.union(Profile::Aam.as_set()), ..Levels::NONE },
    cites: &[Cite::agentskills("allowed-tools field"), Cite::evidence("§3: lists are the second most common form")],
    requirements: &["VAL-33", "VAL-34"],
    page: include_str!("allowed_tools_list.md"),
    check: Check::Skill(check),
};

fn check(skill: &Skill, findings: &mut Findings<'_>) {
    let (Some(manifest), Some(front)) = (&skill.manifest, skill.front()) else { return };
    let Some(entry) = front.field("allowed-tools") else { return };
    let Some(items) = entry.value.items() else { return };
    let draft = findings
        .add(manifest.file, entry.value.span, "allowed-tools is a list, not text")
        .path("allowed-tools")
        .help("write one text, with a blank between tools");
    let after_key = Span::new(entry.key.span.end, entry.value.span.start);
    let whole = Span::new(after_key.start, entry.value.span.end);
    // A comment, an anchor or a tag in between would be lost.
    let is_plain = manifest.source.slice(after_key).trim() == ":"
        && !front.comments.iter().any(|comment| whole.contains(comment.start))
        && !matches!(front.root.value, Value::Mapping { is_flow: true, .. });
    if let Some(joined) = joined(items).filter(|_| is_plain) {
        draft.replace(whole, format!(": {}", quote_if_needed(&joined)));
    }
}

/// The items as one text, where each is one entry in that text too.
fn joined(items: &[Node]) -> Option<String> {
    let is_entry = |item: &&str| split_allowed_tools(item) == [*item] && !item.contains(char::is_control);
    let entries: Option<Vec<&str>> = items
        .iter()
        .map(|item| text(item).filter(|text| text.is_text() && item.tag.is_none()).map(|text| text.value))
        .map(|item| item.filter(is_entry))
        .collect();
    entries.filter(|entries| !entries.is_empty()).map(|entries| entries.join(" ")).filter(|joined| {
        // An open parenthesis in one item would swallow the next.
        split_allowed_tools(joined).len() == items.len()
    })
}
